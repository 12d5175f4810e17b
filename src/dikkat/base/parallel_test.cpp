#include "dikkat/base/parallel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace dikkat {
namespace {

const unsigned kThreadCounts[] = {1, 2, 3, 8};

TEST(Pool, RunsEveryPartOnce) {
  for (const unsigned threads : kThreadCounts) {
    Pool pool(threads);
    for (const std::size_t parts : {0U, 1U, 2U, 7U, 1000U}) {
      std::vector<std::atomic<int>> calls(parts);
      pool.run(parts, [&](std::size_t p, unsigned) { calls[p].fetch_add(1); });
      for (std::size_t p = 0; p < parts; ++p) EXPECT_EQ(calls[p].load(), 1) << threads << " threads, part " << p;
    }
  }
}

TEST(Pool, IsDoneWhenRunReturns) {
  for (const unsigned threads : kThreadCounts) {
    Pool pool(threads);
    std::vector<std::uint64_t> squares(257);
    std::uint64_t total = 0;
    for (std::size_t round = 0; round < 300; ++round) {  // many short jobs: a late worker would be caught
      pool.run(squares.size(), [&](std::size_t p, unsigned) { squares[p] = p * p + round; });
      total += std::accumulate(squares.begin(), squares.end(), std::uint64_t{0});
    }
    // 300 * sum of squares below 257 + 257 * sum of rounds below 300
    EXPECT_EQ(total, 300ULL * 5625216ULL + 257ULL * 44850ULL) << threads;
  }
}

TEST(Pool, WorkersAreNumberedBelowTheThreads) {
  for (const unsigned threads : kThreadCounts) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::vector<std::atomic<int>> inside(threads);
    std::atomic<bool> shared{false};
    pool.run(500, [&](std::size_t, unsigned worker) {
      if (worker >= threads || inside[worker].fetch_add(1) != 0) {
        shared = true;  // out of range, or two parts at once with one number
        return;
      }
      inside[worker].fetch_sub(1);
    });
    EXPECT_FALSE(shared.load()) << threads;
  }
}

TEST(Pool, ZeroThreadsMeansTheCallerAlone) { EXPECT_EQ(Pool(0).threads(), 1U); }

TEST(Pool, RethrowsAFailureAndCanGoOn) {
  for (const unsigned threads : kThreadCounts) {
    Pool pool(threads);
    const auto fail_at_seven = [&](std::size_t p, unsigned) {
      if (p == 7) throw std::runtime_error("seven");
    };
    for (int attempt = 0; attempt < 20; ++attempt) {
      EXPECT_THROW(pool.run(100, fail_at_seven), std::runtime_error) << threads;
      std::atomic<int> calls{0};
      EXPECT_NO_THROW(pool.run(100, [&](std::size_t, unsigned) { calls.fetch_add(1); }));
      EXPECT_EQ(calls.load(), 100);
    }
  }
}

TEST(Pool, SeveralFailuresAreOne) {
  Pool pool(3);
  EXPECT_THROW(pool.run(64, [](std::size_t, unsigned) { throw std::runtime_error("each"); }), std::runtime_error);
  EXPECT_NO_THROW(pool.run(64, [](std::size_t, unsigned) {}));
}

TEST(Pool, ScratchIsAlignedKeptAndOnesOwn) {
  Pool pool(2);
  std::byte* first = pool.scratch(0, 100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  first[99] = std::byte{42};
  EXPECT_EQ(pool.scratch(0, 10), first);
  EXPECT_EQ(pool.scratch(0, 100)[99], std::byte{42});
  EXPECT_NE(pool.scratch(1, 100), first);
  std::byte* grown = pool.scratch(0, 1 << 20);
  grown[(1 << 20) - 1] = std::byte{1};
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(grown) % 64, 0U);
}

TEST(Pool, ComesAndGoesWithoutWork) {
  for (int i = 0; i < 50; ++i) Pool pool(4);
}

TEST(AvailableThreads, AreAtLeastOne) { EXPECT_GE(available_threads(), 1U); }

}  // namespace
}  // namespace dikkat
