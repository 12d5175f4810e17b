#include "dikkat/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <string>
#include <system_error>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"

namespace dikkat {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLeastScratchBytes = 65'536;
// A worker looks this often for new work before it sleeps: some 20 us, longer than the gap between two kernels of a
// step, far shorter than a scheduler's slice, so that a taken core is given up and not burned.
constexpr int kSpins = 4000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

unsigned cgroup_threads() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return ~0U;
  const std::optional<double> allowed = real_from(quota);
  return allowed ? std::max(1U, static_cast<unsigned>(*allowed / period)) : ~0U;
}

}  // namespace

unsigned available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const unsigned affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                                        : std::thread::hardware_concurrency();
  return std::max(1U, std::min(affinity, cgroup_threads()));
}

struct Pool::Scratch {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete[](data, std::align_val_t{kAlignment}); }
};

Pool::Pool(unsigned threads) : threads_(std::max(1U, threads)) {
  for (unsigned w = 0; w < threads_; ++w) scratch_.push_back(std::make_unique<Scratch>());
  try {
    for (unsigned w = 1; w < threads_; ++w) workers_.emplace_back([this, w] { work(w); });
  } catch (const std::system_error& failure) {
    stop();
    throw Error(ErrorKind::limit,
                "only " + std::to_string(workers_.size() + 1) + " of " + std::to_string(threads_) +
                    " threads could be started: " + failure.code().message(),
                {.hint = "ask for fewer threads"});
  }
}

Pool::~Pool() { stop(); }

void Pool::stop() {
  stopping_.store(true);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::byte* Pool::scratch(unsigned worker, std::size_t bytes) {
  Scratch& s = *scratch_[worker];
  if (s.bytes < bytes) {
    ::operator delete[](s.data, std::align_val_t{kAlignment});
    s.data = nullptr;
    s.bytes = 0;
    // At least so much that a cache which fills token by token does not make it grow again and again.
    const std::size_t grown = std::max((bytes + bytes / 4 + 4095) / 4096 * 4096, kLeastScratchBytes);
    s.data = static_cast<std::byte*>(::operator new[](grown, std::align_val_t{kAlignment}));
    s.bytes = grown;
    std::size_t largest = largest_scratch_.load(std::memory_order_relaxed);
    while (largest < bytes && !largest_scratch_.compare_exchange_weak(largest, bytes, std::memory_order_relaxed)) {
    }
  }
  return s.data;
}

// Between jobs nobody but the caller uses scratch, and the caller's own is left alone: it may hold something.
void Pool::even_out_scratch() {
  const std::size_t largest = largest_scratch_.load(std::memory_order_relaxed);
  if (largest == evened_scratch_) return;
  for (unsigned worker = 1; worker < threads_; ++worker) (void)scratch(worker, largest);
  evened_scratch_ = largest;
}

void Pool::take_parts(unsigned worker) {
  for (;;) {
    const std::uint64_t ticket = ticket_.fetch_add(1, std::memory_order_acq_rel);
    const auto parts = static_cast<std::uint32_t>(ticket >> 32U);
    const auto part = static_cast<std::uint32_t>(ticket);
    if (part >= parts) return;
    if (!failed_.load(std::memory_order_relaxed)) {
      try {
        call_(job_, part, worker);
      } catch (...) {
        const std::lock_guard<std::mutex> hold(failure_mutex_);
        if (!failed_.exchange(true)) failure_ = std::current_exception();
      }
    }
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) done_.notify_one();
  }
}

// Done when every part is done, not when every worker has reported: a worker that was asleep, or whose core is taken,
// misses the job and nobody waits for it.
void Pool::run_job(std::size_t parts, void* job, Call call) {
  if (threads_ == 1 || parts <= 1) {
    for (std::size_t p = 0; p < parts; ++p) call(job, p, 0);
    return;
  }
  even_out_scratch();
  job_ = job;
  call_ = call;
  done_.store(0, std::memory_order_relaxed);
  ticket_.store(std::uint64_t{parts} << 32U, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_parts(0);
  for (int spin = 0;; ++spin) {
    const std::uint32_t done = done_.load(std::memory_order_acquire);
    if (done == parts) break;
    if (spin < kSpins) {
      pause_briefly();
    } else {
      done_.wait(done, std::memory_order_acquire);
    }
  }
  if (failed_.exchange(false)) {
    std::exception_ptr failure;
    std::swap(failure, failure_);
    std::rethrow_exception(failure);
  }
}

void Pool::work(unsigned worker) {
  std::uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_acquire) == seen; ++spin) pause_briefly();
    generation_.wait(seen, std::memory_order_acquire);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load()) return;
    take_parts(worker);
  }
}

}  // namespace dikkat
