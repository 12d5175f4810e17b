#include <fmt/format.h>

#include <array>

#include "dikkat/base/error.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::text {
namespace {

constexpr std::size_t kBytes = 256;

constexpr std::array<char, kBytes> kEveryByte = [] {
  std::array<char, kBytes> bytes{};
  for (std::size_t b = 0; b < kBytes; ++b) bytes[b] = static_cast<char>(b);
  return bytes;
}();

class ByteTokenizer final : public Tokenizer {
 public:
  [[nodiscard]] std::string_view kind() const override { return "byte"; }
  [[nodiscard]] std::size_t vocabulary() const override { return kBytes; }
  [[nodiscard]] std::string to_json() const override { return R"({"kind":"byte"})"; }

  [[nodiscard]] std::string_view bytes_of(Token token) const override {
    if (token >= kBytes) throw Error(ErrorKind::usage, fmt::format("token {} is outside the vocabulary of 256", token));
    return {&kEveryByte[token], 1};
  }

  using Tokenizer::encode;
  std::vector<Unknown> encode(std::string_view text, UnknownPolicy, std::vector<Token>& tokens) const override {
    tokens.reserve(tokens.size() + text.size());
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return {};
  }
};

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer() { return std::make_unique<ByteTokenizer>(); }

}  // namespace dikkat::text
