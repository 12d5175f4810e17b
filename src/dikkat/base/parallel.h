// Work on several threads without letting the number of threads into any result.
//
// A job is cut into parts by the caller, from sizes alone; a part writes only its own outputs and never adds into
// another part's. Which thread runs a part is left open (a core taken away by the machine costs time, not bits).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace dikkat {

// Threads this process may really use: CPU affinity and the cgroup's quota, whichever is less; at least 1.
[[nodiscard]] unsigned available_threads();

class Pool {
 public:
  // threads >= 1, the caller's own included. Error{limit} when the system does not give so many.
  explicit Pool(unsigned threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] unsigned threads() const { return threads_; }

  // Calls part(p, worker) once for every p in [0, parts); returns when all are done; rethrows the first exception.
  // worker < threads() tells which scratch may be used. No allocation. Not reentrant.
  template <class Part>
  void run(std::size_t parts, Part&& part) {
    using P = std::remove_reference_t<Part>;
    run_job(parts, const_cast<void*>(static_cast<const void*>(&part)),
            [](void* job, std::size_t p, unsigned worker) { (*static_cast<P*>(job))(p, worker); });
  }

  // Memory of one worker, 64-byte aligned, at least `bytes`; its content lives until the worker's next call with a
  // larger size. Grows, never shrinks; what one worker needed, the others have before the next job: after warm-up no
  // call allocates, whoever takes which part.
  [[nodiscard]] std::byte* scratch(unsigned worker, std::size_t bytes);

 private:
  using Call = void (*)(void* job, std::size_t part, unsigned worker);
  struct Scratch;

  void run_job(std::size_t parts, void* job, Call call);
  void work(unsigned worker);
  void stop();
  void take_parts(unsigned worker);
  void even_out_scratch();

  unsigned threads_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  std::atomic<std::size_t> largest_scratch_{0};  // asked for by anyone
  std::size_t evened_scratch_ = 0;               // held by all workers but the caller
  std::vector<std::thread> workers_;

  // Of the present job; read only by who holds a part of it, so that a worker that comes late cannot see them change.
  void* job_ = nullptr;
  Call call_ = nullptr;
  alignas(64) std::atomic<std::uint64_t> ticket_{0};      // number of parts << 32 | next part to take
  alignas(64) std::atomic<std::uint32_t> done_{0};        // parts finished
  alignas(64) std::atomic<std::uint32_t> generation_{0};  // a new value wakes the workers
  std::atomic<bool> failed_{false};                       // the rest of the job is passed over
  std::atomic<bool> stopping_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace dikkat
