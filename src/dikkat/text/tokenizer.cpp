#include "dikkat/text/tokenizer.h"

#include "dikkat/base/error.h"
#include "dikkat/base/hash.h"
#include "dikkat/base/json.h"
#include "dikkat/text/utf8.h"

namespace dikkat::text {
namespace {

std::vector<std::uint32_t> code_points_in(const JsonAt& characters) {
  std::vector<std::uint32_t> code_points;
  for (const JsonAt& item : characters.items()) {
    const std::string& character = item.string();
    std::size_t at = 0;
    const std::uint32_t code_point = character.empty() ? kInvalid : next_code_point(character, at);
    if (code_point == kInvalid || at != character.size()) item.refuse("not exactly one character");
    if (!code_points.empty() && code_point <= code_points.back()) {
      item.refuse("the characters are not in ascending order of their code points, each once");
    }
    code_points.push_back(code_point);
  }
  if (code_points.size() < 2) characters.refuse("fewer than two characters");
  return code_points;
}

}  // namespace

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  std::vector<Token> tokens;
  encode(text, UnknownPolicy::refuse, tokens);
  return tokens;
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const Token token : tokens) text += bytes_of(token);
  return text;
}

std::string Tokenizer::fingerprint() const { return xxh3_128_hex(to_json()); }

std::unique_ptr<Tokenizer> tokenizer_from(std::string_view json, const std::string& file) {
  const Json document = parse_json(json, file);
  const JsonAt root(document, file);
  const std::string& kind = root["kind"].string();
  if (kind == "byte") {
    root.allow_only({"kind"});
    return byte_tokenizer();
  }
  if (kind == "char") {
    root.allow_only({"kind", "characters"});
    return character_tokenizer(code_points_in(root["characters"]));
  }
  throw Error(ErrorKind::incompatible,
              "'" + label_of(kind) + "' is no tokenizer of this version, which has char and byte",
              {.file = file, .key = "kind"});
}

}  // namespace dikkat::text
