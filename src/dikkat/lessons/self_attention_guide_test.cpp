// docs/guide/prompt-attention-explainer.md holds what the document asks of it, item by item, and its figures are the
// lesson's; docs/guide/lessons.md names tests that are there.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "dikkat/base/file.h"
#include "dikkat/lessons/self_attention_lesson.h"

namespace dikkat::lessons {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kSource = DIKKAT_SOURCE_DIR;

std::string page(const std::string& name) { return read_small_file(kSource / "docs/guide" / name, 1U << 20U); }

// A page in lines; words of its running text on one line, so that where it wraps does not matter.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}
std::string unwrapped(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// The part under a heading, up to the next one of its level or above.
std::string section(const std::string& text, const std::string& heading) {
  const std::string start = "\n" + heading + "\n";
  const std::size_t from = text.find(start);
  EXPECT_NE(from, std::string::npos) << heading;
  if (from == std::string::npos) return {};
  const std::size_t body = from + start.size();
  std::size_t end = text.size();
  for (const char* mark : {"\n# ", "\n## ", "\n### "}) {
    if (std::string(mark).size() - 2 <= heading.find(' ')) end = std::min(end, text.find(mark, body));
  }
  return text.substr(body, end - body);
}

class Explainer : public ::testing::Test {
 protected:
  Explainer() {
    Pool pool(1);
    lesson_ = self_attention_lesson({.pool = pool});
  }

  const std::string text_ = page("prompt-attention-explainer.md");
  SelfAttentionLesson lesson_;
};

TEST_F(Explainer, GoesFromTheExactMatchToTheSoftOne) {
  const std::string part = unwrapped(section(text_, "### From an exact match to a soft one"));
  EXPECT_THAT(part, HasSubstr("exact match:"));
  EXPECT_THAT(part, HasSubstr("soft match:"));
  EXPECT_THAT(part, HasSubstr("similarity to EVERY key"));
  EXPECT_THAT(part, HasSubstr("a blend of ALL values"));
  EXPECT_LT(part.find("exact match:"), part.find("soft match:"));
}

TEST_F(Explainer, HasTheFiveStepsInTheirOrder) {
  const std::string part = section(text_, "### The steps");
  std::size_t before = 0;
  for (const char* step :
       {"**1. Queries, keys, values.**", "**2. Scores.**", "**3. Scale.**", "**4. Softmax.**", "**5. Blend.**"}) {
    const std::size_t at = part.find(step);
    ASSERT_NE(at, std::string::npos) << step;
    EXPECT_GE(at, before);
    before = at;
  }
  for (const char* formula : {"q = x Wq", "k = x Wk", "v = x Wv", "S = Q K^T", "sqrt(d_k)", "output = weights V"}) {
    EXPECT_THAT(part, HasSubstr(formula));
  }
}

TEST_F(Explainer, StepsCiteTheLessonsFigures) {
  const std::string part = unwrapped(section(text_, "### The steps"));
  const WidthFigures& widest = lesson_.widths.back();
  EXPECT_THAT(part, HasSubstr("d_k = " + std::to_string(widest.width)));
  EXPECT_NEAR(widest.raw_largest, 0.97, 0.005);
  const std::vector<double> scaled = {0.24, 0.32, 0.36, 0.37, 0.36, 0.36};  // d_k 1, 4, 16 and wider
  ASSERT_EQ(lesson_.widths.size(), scaled.size());
  for (std::size_t i = 0; i < scaled.size(); ++i) EXPECT_NEAR(lesson_.widths[i].scaled_largest, scaled[i], 0.005) << i;
  EXPECT_THAT(part, HasSubstr("is 0.97 on average"));
  EXPECT_THAT(part, HasSubstr("it is 0.24 at d_k = 1 and 0.32 at 4, and stays at 0.36 or 0.37 from 16 on"));
}

TEST_F(Explainer, ShowsTheExampleSentenceWithItsGrid) {
  const std::string part = section(text_, "### The example");
  EXPECT_THAT(part, HasSubstr("\"The cat sat on the mat\""));
  EXPECT_THAT(part, HasSubstr("```\n" + weight_table(lesson_.base.weights[0], lesson_.options.words) + "```"));
}

// One row, every word of it with its weight, and what comes out.
TEST_F(Explainer, IsConcreteForEachToken) {
  const std::string part = unwrapped(section(text_, "### The example"));
  for (std::size_t c = 0; c < 6; ++c) {
    char term[64];
    std::snprintf(term, sizeof term, "%.3f v(%s)", lesson_.base.weights[0](0, c), lesson_.options.words[c].c_str());
    EXPECT_THAT(part, HasSubstr(term));
  }
  EXPECT_THAT(part, HasSubstr("[-0.233 0.443 1.035 0.550]"));
  const std::vector<double> output = {-0.233, 0.443, 1.035, 0.550};
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(lesson_.base.output(0, c), output[c], 0.0005);
}

TEST_F(Explainer, StatesItsRules) {
  const std::string part = unwrapped(section(text_, "### Rules"));
  EXPECT_THAT(part, HasSubstr("**Always show the formula.**"));
  EXPECT_THAT(part, HasSubstr("`Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V`"));
  EXPECT_THAT(part, HasSubstr("**Draw grids in plain characters.** Every matrix of weights is an ASCII grid"));
  EXPECT_THAT(part, HasSubstr("**Be concrete, token by token.**"));
}

TEST_F(Explainer, LinksToCrossAttentionSeveralHeadsAndTheCausalMask) {
  const std::string part = section(text_, "### What leads on from here");
  for (const char* name : {"cross-attention", "multi-head", "causal-mask"}) {
    EXPECT_THAT(part, HasSubstr("](#" + std::string(name) + ")"));
    EXPECT_THAT(part, HasSubstr("<a id=\"" + std::string(name) + "\"></a>"));
  }
  EXPECT_THAT(part, HasSubstr("```\n" + weight_table(lesson_.causal.weights[0], lesson_.options.words) + "```"));
  EXPECT_THAT(unwrapped(part), HasSubstr("Queries come from one text, keys and values from another"));
}

TEST_F(Explainer, IsAPromptByTheAnalogyOfLookingUp) {
  EXPECT_THAT(unwrapped(section(text_, "## The prompt")),
              HasSubstr("Explain it as a look-up in a table that has become soft"));
}

// The names of all test cases, as ctest has them: folder.Suite.Case.
std::set<std::string> test_names() {
  std::set<std::string> names;
  for (const char* root : {"src/dikkat", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / root)) {
      const std::string file = entry.path().string();
      if (!file.ends_with("_test.cpp")) continue;
      const std::string folder = entry.path().lexically_relative(kSource / root).begin()->string();
      const std::string text = unwrapped(read_small_file(file, 1U << 22U));
      for (std::size_t at = text.find("TEST"); at != std::string::npos; at = text.find("TEST", at + 4)) {
        const std::size_t open = text.find('(', at);
        const std::size_t close = text.find(')', at);
        const std::size_t comma = text.find(", ", at);
        if (open == std::string::npos || close == std::string::npos || comma > close || open > comma) continue;
        const std::string macro = text.substr(at, open - at);
        if (macro != "TEST" && macro != "TEST_F" && macro != "TEST_P" &&
            !(at >= 6 && text.substr(at - 6, 6) == "TYPED_"))
          continue;
        names.insert(folder + "." + text.substr(open + 1, comma - open - 1) + "." +
                     text.substr(comma + 2, close - comma - 2));
      }
    }
  }
  return names;
}

// A line of a table: its first cell and the tests that its last one cites.
struct Proof {
  std::string line;
  std::vector<std::string> tests;
};

std::vector<Proof> proofs() {
  std::vector<Proof> all;
  for (const std::string& line : lines_of(page("lessons.md"))) {
    if (line.size() < 4 || line.compare(0, 2, "| ") != 0 || line.find(" | ") == std::string::npos) continue;
    Proof proof{line.substr(2, line.find(' ', 2) - 2), {}};
    if (proof.line.size() < 2 || std::string("ABC").find(proof.line[0]) == std::string::npos) continue;
    for (std::size_t at = line.find('`', line.rfind(" | ")); at != std::string::npos;) {
      const std::size_t end = line.find('`', at + 1);
      if (end == std::string::npos) break;
      proof.tests.push_back(line.substr(at + 1, end - at - 1));
      at = line.find('`', end + 1);
    }
    all.push_back(std::move(proof));
  }
  return all;
}

TEST(LessonsGuide, EveryTestItCitesIsThere) {
  const std::set<std::string> names = test_names();
  ASSERT_GT(names.size(), 300U);
  std::size_t cited = 0;
  for (const Proof& proof : proofs()) {
    EXPECT_FALSE(proof.tests.empty()) << proof.line << " has no proof";
    for (const std::string& test : proof.tests) EXPECT_TRUE(names.contains(test)) << proof.line << ": " << test;
    cited += proof.tests.size();
  }
  EXPECT_GT(cited, 60U);
}

TEST(LessonsGuide, HasEveryLineOfTheThreeDocuments) {
  std::map<std::string, int> seen;
  for (const Proof& proof : proofs()) ++seen[proof.line];
  const auto expect_all = [&](const std::string& letter, int last) {
    for (int i = 1; i <= last; ++i) EXPECT_EQ(seen[letter + std::to_string(i)], 1) << letter << i;
  };
  expect_all("A", 22);
  expect_all("B", 16);
  expect_all("C", 19);
  for (const char* figures : {"A-num", "B-num", "C-num"}) EXPECT_GE(seen[figures], 1) << figures;
}

}  // namespace
}  // namespace dikkat::lessons
