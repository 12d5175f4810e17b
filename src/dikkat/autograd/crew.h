// The threads of a pool, each able to run kernels by itself: what is done in pieces is done by a crew, a piece on one
// thread from beginning to end, and nobody waits for anybody in between.
#pragma once

#include <algorithm>
#include <deque>

#include "dikkat/autograd/row_sum.h"
#include "dikkat/kernels/executor.h"

namespace dikkat {

class Crew {
 public:
  explicit Crew(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) members_.emplace_back();
  }

  // The executor with which `worker` (of the pool whose threads these are) runs a kernel alone.
  [[nodiscard]] kernels::Executor alone(unsigned worker, const kernels::Executor& executor) {
    return {members_[worker].pool, executor.bodies, executor.instructions};
  }
  [[nodiscard]] Joining& joining(unsigned worker) { return members_[worker].joining; }
  // What one member needed, all have from now on: whoever does what, nothing is allocated a second time.
  void even_out() {
    std::size_t bytes = 0, chunks = 0, ids = 0;
    for (const Member& member : members_) {
      bytes = std::max(bytes, member.joining.memory.capacity());
      chunks = std::max(chunks, member.joining.chunks.capacity());
      ids = std::max(ids, member.joining.ids.capacity());
    }
    for (Member& member : members_) {
      member.joining.memory.reserve(bytes);
      member.joining.chunks.reserve(chunks);
      member.joining.ids.reserve(ids);
    }
  }

 private:
  struct Member {
    Pool pool{1};
    Joining joining;
  };
  std::deque<Member> members_;
};

}  // namespace dikkat
