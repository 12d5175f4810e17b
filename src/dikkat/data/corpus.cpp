#include "dikkat/data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/hash.h"
#include "dikkat/text/utf8.h"

namespace dikkat::data {
namespace {

namespace fs = std::filesystem;

const fs::path kStandardInput = "-";

// Mapped, or, of standard input, read.
struct Source {
  explicit Source(const fs::path& path) {
    if (path == kStandardInput) {
      name = "standard input";
      read = read_standard_input(kLargestStandardInput);
    } else {
      name = path.string();
      mapped.emplace(path);
    }
  }

  [[nodiscard]] std::string_view raw() const { return mapped ? mapped->text() : std::string_view(read); }

  std::string name;
  std::optional<MappedFile> mapped;
  std::string read;
  std::string cleaned;
};

void refuse_second_standard_input(const std::vector<fs::path>& paths) {
  if (std::count(paths.begin(), paths.end(), kStandardInput) > 1) {
    throw Error(ErrorKind::usage, "standard input can be read only once", {.key = "-", .hint = "name '-' once"});
  }
}

// An error of the tokenizer, which knows no files, as one of this text. Offsets into a text that cleaning made shorter
// would mislead; line and column stay right.
[[noreturn]] void rethrow_as_of(const Error& error, const std::string& name, bool offsets_hold) {
  ErrorPlace place = error.place();
  place.file = name;
  if (!offsets_hold) place.offset.reset();
  throw Error(error.kind(), error.message(), place);
}

std::array<std::byte, 8> little_endian(std::uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  return bytes;
}

// Appends the tokens of what is known and counts the rest. A piece at a time, because the tokenizer writes down each
// unknown character, of which a text may have no others.
std::size_t encode_known(std::string_view text, const text::Tokenizer& tokenizer, std::vector<text::Token>& tokens) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  std::size_t skipped = 0;
  while (!text.empty()) {
    const std::size_t whole = text.size() <= kPiece ? text.size() : text::whole_characters(text.substr(0, kPiece));
    skipped += tokenizer.encode(text.substr(0, whole), text::UnknownPolicy::skip, tokens).size();
    text.remove_prefix(whole);
  }
  return skipped;
}

std::size_t nine_tenths(std::size_t n) { return n / 10 * 9 + n % 10 * 9 / 10; }  // floor(0.9 n), no overflow

}  // namespace

struct Texts::Held {
  std::vector<Source> sources;
  std::vector<std::string_view> views;
};

Texts::Texts(const std::vector<fs::path>& paths, Cleaning cleaning) : held_(std::make_unique<Held>()) {
  refuse_second_standard_input(paths);
  held_->sources.reserve(paths.size());  // views look into the sources
  for (const fs::path& path : paths) {
    Source& source = held_->sources.emplace_back(path);
    held_->views.push_back(cleaning == Cleaning::none ? source.raw()
                                                      : text::clean_text(source.raw(), source.cleaned, source.name));
  }
  const auto is_empty = [](std::string_view view) { return view.empty(); };
  if (std::all_of(held_->views.begin(), held_->views.end(), is_empty)) {
    throw Error(
        ErrorKind::malformed, "the text is empty",
        {.file = paths.empty() ? std::string() : name(0), .hint = "give a text that is longer than the context"});
  }
}

Texts::~Texts() = default;
Texts::Texts(Texts&&) noexcept = default;

const std::vector<std::string_view>& Texts::views() const { return held_->views; }
std::string_view Texts::raw(std::size_t index) const { return held_->sources.at(index).raw(); }
const std::string& Texts::name(std::size_t index) const { return held_->sources.at(index).name; }

std::string Texts::fingerprint() const {
  Xxh3Stream hash;
  for (const Source& source : held_->sources) {
    hash.update(little_endian(source.raw().size()));
    hash.update(source.raw());
  }
  return hash.hex();
}

std::span<const text::Token> Corpus::part(Split split) const {
  const std::span<const text::Token> all(tokens);
  switch (split) {
    case Split::train: return all.first(train_count);
    case Split::validation: return all.subspan(train_count);
    case Split::all: break;
  }
  return all;
}

std::unique_ptr<text::Tokenizer> character_tokenizer_of(const Texts& texts) {
  try {
    return text::character_tokenizer(texts.views());
  } catch (const Error& error) {
    if (texts.views().size() != 1) throw;
    rethrow_as_of(error, texts.name(0), true);
  }
}

Corpus tokenized(const Texts& texts, const text::Tokenizer& tokenizer, text::UnknownPolicy unknown) {
  Corpus corpus;
  corpus.fingerprint = texts.fingerprint();
  for (std::size_t i = 0; i < texts.views().size(); ++i) {
    const std::string_view view = texts.views()[i];
    if (unknown == text::UnknownPolicy::skip) {
      corpus.skipped += encode_known(view, tokenizer, corpus.tokens);
      continue;
    }
    try {
      tokenizer.encode(view, text::UnknownPolicy::refuse, corpus.tokens);
    } catch (const Error& error) {
      rethrow_as_of(error, texts.name(i), view.size() == texts.raw(i).size());
    }
  }
  if (texts.fingerprint() != corpus.fingerprint) {
    throw Error(ErrorKind::io, "the text changed while it was read",
                {.file = texts.name(0), .hint = "leave the file alone meanwhile"});
  }
  corpus.train_count = nine_tenths(corpus.tokens.size());
  return corpus;
}

void check_windows(const Corpus& corpus, std::size_t context, const std::string& name) {
  const std::size_t train = corpus.part(Split::train).size();
  const std::size_t validation = corpus.part(Split::validation).size();
  const std::size_t shorter = std::min(train, validation);
  const std::size_t largest = shorter == 0 ? 0 : shorter - 1;
  if (context <= largest) return;
  throw Error(
      ErrorKind::malformed,
      fmt::format("the text is too short for a context of {}: a window needs one token more, and of {} tokens {} "
                  "are for training and {} for validation",
                  context, corpus.tokens.size(), train, validation),
      {.file = name,
       .hint = largest == 0 ? "no context works, give a longer text"
                            : fmt::format("use a context of at most {}, or a longer text", largest)});
}

}  // namespace dikkat::data
