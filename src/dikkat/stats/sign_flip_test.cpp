#include "dikkat/stats/sign_flip.h"

#include <gtest/gtest.h>

#include <vector>

namespace dikkat::stats {
namespace {

// All of one sign: only they and their mirror reach that far, 2 of 2^6.
TEST(SignFlip, OfSixGainsIsOneInThirtyTwo) {
  EXPECT_EQ(sign_flip_p(std::vector{1.0, 2.0, 0.5, 3.0, 1.5, 0.1}), 2.0 / 64);
}

// 1 + 2 - 3 = 0 is reached by every choice; 3 - 1 and 3 + 1 reach 2 in all, 4 in two of four.
TEST(SignFlip, CountsTies) {
  EXPECT_EQ(sign_flip_p(std::vector{1.0, 2.0, -3.0}), 1.0);
  EXPECT_EQ(sign_flip_p(std::vector{3.0, 1.0}), 0.5);
  EXPECT_EQ(sign_flip_p(std::vector{3.0, -1.0}), 1.0);
}

// Four of 1,024 by going through all of them in another program; the zero takes no part.
TEST(SignFlip, OfStudentsSleepData) {
  EXPECT_EQ(sign_flip_p(std::vector{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4}), 4.0 / 1024);
}

TEST(SignFlip, OfNothingIsOne) {
  EXPECT_EQ(sign_flip_p({}), 1.0);
  EXPECT_EQ(sign_flip_p(std::vector{0.0, 0.0}), 1.0);
}

// Of 21 equal sizes, k of them losses: a binomial tail. 16 of 21: 2 * sum of C(21, 0..5) / 2^21 = 0.0266.
TEST(SignFlip, OfManyIsDrawn) {
  std::vector<double> differences(16, 1.0);
  differences.resize(21, -1.0);
  EXPECT_NEAR(sign_flip_p(differences), 0.02660, 0.0016);  // three standard errors of 100,000 draws
  EXPECT_EQ(sign_flip_p(differences), sign_flip_p(differences));
}

// 1,050 gains and 950 losses, and one of each more: 2 (1 - Phi(100 / sqrt(2000))) = 0.0253.
TEST(SignFlip, OfVeryManyIsTheNormalLimitOfTheDraws) {
  std::vector<double> differences(1050, 1.0);
  differences.resize(2000, -1.0);
  EXPECT_NEAR(sign_flip_p(differences), 0.0267, 0.0017);  // drawn: whole numbers, so half a step more than the limit
  differences.push_back(1.0);
  differences.push_back(-1.0);
  EXPECT_NEAR(sign_flip_p(differences), 0.02542, 0.00005);
}

}  // namespace
}  // namespace dikkat::stats
