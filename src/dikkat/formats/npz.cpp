#include "dikkat/formats/npz.h"

#include <minizip/zip.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <set>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"

namespace dikkat::formats {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;
// Where a size no longer fits the old fields; the local header adds little.
constexpr std::uint64_t kZip64From = 0xFFFF'FFFFU;

// The file as minizip sees it: it writes onward, and goes back only to put sums and sizes into headers already written.
class Target {
 public:
  explicit Target(const std::filesystem::path& path) : file_(path) { pending_.reserve(kPiece); }

  void write(std::span<const std::byte> bytes) {
    if (at_ < end()) {
      rewrite(bytes);
    } else {
      pending_.insert(pending_.end(), bytes.begin(), bytes.end());
      if (pending_.size() >= kPiece) flush();
    }
    at_ += bytes.size();
  }
  void seek(std::uint64_t to) { at_ = to; }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t end() const { return flushed_ + pending_.size(); }
  void finish() {
    flush();
    file_.finish();
  }

 private:
  void flush() {
    file_.write(std::span<const std::byte>(pending_));
    flushed_ += pending_.size();
    pending_.clear();
  }
  void rewrite(std::span<const std::byte> bytes) {
    if (bytes.size() > end() - at_) throw Error(ErrorKind::internal, "npz: a header that outgrows its place");
    if (at_ < flushed_ && at_ + bytes.size() > flushed_) flush();
    if (at_ >= flushed_) {
      std::copy(bytes.begin(), bytes.end(), pending_.begin() + static_cast<std::ptrdiff_t>(at_ - flushed_));
    } else {
      file_.rewrite(at_, bytes);
    }
  }

  FileReplacement file_;
  std::vector<std::byte> pending_;
  std::uint64_t flushed_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace

struct NpzWriter::Zip {
  Target target;
  std::exception_ptr failure;  // of a call that minizip made: nothing is thrown through C
  zipFile file = nullptr;
  std::set<std::string, std::less<>> names;
  std::uint64_t missing = 0;  // bytes of the array that is open
  bool open = false;

  explicit Zip(const std::filesystem::path& path) : target(path) {
    zlib_filefunc64_def calls{};
    calls.opaque = this;
    calls.zopen64_file = [](voidpf self, const void*, int) -> voidpf { return self; };
    calls.zread_file = [](voidpf, voidpf, void*, uLong) -> uLong { return 0; };
    calls.zwrite_file = [](voidpf self, voidpf, const void* bytes, uLong size) -> uLong {
      return static_cast<Zip*>(self)->write(static_cast<const std::byte*>(bytes), size);
    };
    calls.ztell64_file = [](voidpf self, voidpf) -> ZPOS64_T { return static_cast<Zip*>(self)->target.at(); };
    calls.zseek64_file = [](voidpf self, voidpf, ZPOS64_T offset, int origin) -> long {
      return static_cast<Zip*>(self)->seek(offset, origin);
    };
    calls.zclose_file = [](voidpf, voidpf) -> int { return 0; };
    calls.zerror_file = [](voidpf self, voidpf) -> int { return static_cast<Zip*>(self)->failure ? 1 : 0; };
    file = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &calls);
    if (file == nullptr) throw Error(ErrorKind::limit, "out of memory for a zip file");
  }
  ~Zip() {
    if (file != nullptr) zipClose(file, nullptr);  // frees; what it writes is given up with the target
  }
  Zip(const Zip&) = delete;
  Zip& operator=(const Zip&) = delete;

  uLong write(const std::byte* bytes, uLong size) {
    if (failure) return 0;
    try {
      target.write({bytes, size});
      return size;
    } catch (...) {
      failure = std::current_exception();
      return 0;
    }
  }
  long seek(std::uint64_t offset, int origin) {
    const std::uint64_t from = origin == ZLIB_FILEFUNC_SEEK_CUR   ? target.at()
                               : origin == ZLIB_FILEFUNC_SEEK_END ? target.end()
                                                                  : 0;
    target.seek(from + offset);
    return 0;
  }
  void check(int code, const char* what) const {
    if (failure) std::rethrow_exception(failure);
    if (code != ZIP_OK) throw Error(ErrorKind::internal, std::string("npz: cannot ") + what);
  }

  void begin(std::string_view name, std::uint64_t bytes) {
    if (open || name.empty() || !names.insert(std::string(name)).second) {
      throw Error(ErrorKind::internal, "npz: array '" + label_of(name) + "' has no name of its own or is not alone");
    }
    zip_fileinfo information{};
    information.tmz_date = {.tm_sec = 0, .tm_min = 0, .tm_hour = 0, .tm_mday = 1, .tm_mon = 0, .tm_year = 1980};
    const std::string entry = std::string(name) + ".npy";
    check(zipOpenNewFileInZip64(file, entry.c_str(), &information, nullptr, 0, nullptr, 0, nullptr, 0, 0,
                                bytes >= kZip64From ? 1 : 0),
          "begin an entry");
    open = true;
    missing = bytes;
  }
  void put(std::span<const std::byte> bytes) {
    if (!open || bytes.size() > missing) throw Error(ErrorKind::internal, "npz: more bytes than the array has");
    missing -= bytes.size();
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kPiece))) {
      const auto piece = static_cast<unsigned>(std::min(bytes.size(), kPiece));
      check(zipWriteInFileInZip(file, bytes.data(), piece), "write an entry");
    }
  }
  void end() {
    if (!open || missing != 0) throw Error(ErrorKind::internal, "npz: fewer bytes than the array has");
    open = false;
    check(zipCloseFileInZip(file), "end an entry");
  }
  void finish() {
    if (open) throw Error(ErrorKind::internal, "npz: finished within an array");
    check(zipClose(std::exchange(file, nullptr), nullptr), "end the file");
    target.finish();
  }
};

NpzWriter::NpzWriter(const std::filesystem::path& path) : zip_(std::make_unique<Zip>(path)) {}
NpzWriter::~NpzWriter() = default;

void NpzWriter::begin(std::string_view name, const NpyHeader& header) {
  const std::string prefix = npy_prefix(header);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(header.count(), bytes_of(header.number), &bytes)) {
    throw Error(ErrorKind::limit, "an array of more than 2^64 bytes");
  }
  zip_->begin(name, prefix.size() + bytes);
  zip_->put(std::as_bytes(std::span(prefix)));
}

void NpzWriter::write(std::span<const std::byte> bytes) { zip_->put(bytes); }

void NpzWriter::end() { zip_->end(); }

void NpzWriter::add(std::string_view name, const Tensor& tensor) {
  const Tensor whole = tensor.contiguous() ? tensor : tensor.clone();
  begin(name, {.number = npy_number(whole.dtype()), .shape = {whole.shape().begin(), whole.shape().end()}});
  write({whole.raw(), whole.bytes()});
  end();
}

void NpzWriter::add_texts(std::string_view name, std::span<const std::string> texts) {
  const std::string array = npy_text_array(texts);
  zip_->begin(name, array.size());
  zip_->put(std::as_bytes(std::span(array)));
  end();
}

void NpzWriter::finish() { zip_->finish(); }

}  // namespace dikkat::formats
