#include "dikkat/tensor/storage.h"

#include <new>
#include <string>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

class Heap final : public Allocator {
 public:
  Block* allocate(std::size_t bytes) override {
    try {
      auto* block = new Block;
      try {
        block->data = static_cast<std::byte*>(::operator new[](bytes == 0 ? 1 : bytes, std::align_val_t{kAlignment}));
      } catch (...) {
        delete block;
        throw;
      }
      block->bytes = bytes;
      block->owner = this;
      return block;
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::limit, "out of memory: " + std::to_string(bytes) + " bytes were asked for",
                  {.hint = "choose a smaller model, batch or context"});
    }
  }
  void release(Block* block) noexcept override {
    ::operator delete[](block->data, std::align_val_t{kAlignment});
    delete block;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
};

}  // namespace

Allocator& heap() {
  static Heap instance;
  return instance;
}

}  // namespace dikkat
