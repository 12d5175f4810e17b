#include "dikkat/train/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "dikkat/text/utf8.h"

namespace dikkat::train {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kFewWindows = 20;  // of the validation part
constexpr double kMuchRepetition = 100;  // times each token is seen

std::size_t count_of(std::string_view bytes, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = bytes.find(what); at != std::string_view::npos; at = bytes.find(what, at + what.size()))
    ++count;
  return count;
}

std::string place_of(std::string_view bytes, std::size_t at, const std::string& name) {
  text::Position position;
  text::advance(position, bytes, 0, at);
  return fmt::format("{}: line {}, column {}, byte {}", name, position.line, position.column, at);
}

// Bytes that no text has on purpose, and what they are the trace of.
struct Trace {
  std::string_view bytes;
  const char* what;
  const char* remedy;
};
constexpr Trace kTraces[] = {
    {"\0"sv, "a NUL byte: this may be no text",
     "make sure that this is the right file, and remove them: tr -d '\\000'"},
    {"\xEF\xBF\xBD"sv, "U+FFFD, which stands for a character that was lost in a conversion",
     "go back to the source and convert it from its true encoding: iconv -f ... -t UTF-8"},
    {"\xC3\x83\xC2"sv, "UTF-8 that was taken for Latin-1 and encoded again ('Ã' before another sign)",
     "undo it: iconv -f UTF-8 -t ISO-8859-1"},
    {"\xC3\xA2\xE2\x82\xAC"sv, "UTF-8 that was taken for Windows-1252 and encoded again ('â€')",
     "undo it: iconv -f UTF-8 -t WINDOWS-1252"},
};

void find_traces(Findings& findings, std::string_view bytes, const std::string& name) {
  for (const Trace& trace : kTraces) {
    const std::size_t first = bytes.find(trace.bytes);
    if (first == std::string_view::npos) continue;
    findings.push_back({.severity = Severity::warning,
                        .check = "encoding",
                        .what = fmt::format("{}, {} in all", trace.what, count_of(bytes, trace.bytes)),
                        .where = place_of(bytes, first, name),
                        .remedy = trace.remedy});
  }
}

void find_marks(Findings& findings, std::string_view bytes, const std::string& name, TokenizerKind tokenizer) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kMark)) {
    const bool dropped = tokenizer == TokenizerKind::character;
    findings.push_back({.severity = dropped ? Severity::note : Severity::warning,
                        .check = "encoding",
                        .what = dropped ? "a byte order mark at the start, which is dropped"
                                        : "a byte order mark at the start, three bytes that the model will learn",
                        .where = name + ": byte 0",
                        .remedy = "save the text without it (UTF-8 without BOM)"});
  }
  const std::size_t inside = bytes.find(kMark, 1);
  if (inside == std::string_view::npos) return;
  findings.push_back({.severity = Severity::warning,
                      .check = "encoding",
                      .what = "a byte order mark inside the text, as joining files leaves it: a character of its own",
                      .where = place_of(bytes, inside, name),
                      .remedy = "remove it: sed -i 's/\\xEF\\xBB\\xBF//g'"});
}

struct LineEnds {
  std::size_t lf = 0;  // alone
  std::size_t cr = 0;  // alone
  std::size_t cr_lf = 0;
  std::size_t first_cr = 0;  // alone: its byte
};

LineEnds line_ends_of(std::string_view bytes) {
  LineEnds ends;
  for (std::size_t at = bytes.find_first_of("\r\n"); at != std::string_view::npos;
       at = bytes.find_first_of("\r\n", at + 1)) {
    if (bytes[at] == '\n') {
      ++ends.lf;
    } else if (at + 1 < bytes.size() && bytes[at + 1] == '\n') {
      ++ends.cr_lf;
      ++at;
    } else {
      if (ends.cr++ == 0) ends.first_cr = at;
    }
  }
  return ends;
}

void check_line_ends(Findings& findings, std::string_view bytes, const std::string& name, TokenizerKind tokenizer) {
  const LineEnds ends = line_ends_of(bytes);
  const std::string counts = fmt::format("{} LF, {} CR LF, {} CR", ends.lf, ends.cr_lf, ends.cr);
  const auto say = [&](Severity severity, std::string what, std::string where, std::string remedy) {
    findings.push_back({.severity = severity,
                        .check = "line-ends",
                        .what = std::move(what),
                        .where = std::move(where),
                        .remedy = std::move(remedy)});
  };
  if (ends.cr > 0) {
    say(Severity::warning, "line ends of CR alone stay characters: " + counts, place_of(bytes, ends.first_cr, name),
        "make them LF: tr '\\r' '\\n'");
  }
  if (ends.cr_lf == 0) {
    if (ends.cr == 0) say(Severity::fine, counts, name, "");
    return;
  }
  const bool mixed = ends.lf > 0;
  const std::string remedy = "make them LF: sed -i 's/\\r$//'";
  if (tokenizer == TokenizerKind::byte) {
    say(Severity::warning,
        fmt::format("{}the model will learn the CR: {}", mixed ? "mixed line ends: " : "line ends are CR LF, ", counts),
        name, remedy);
  } else {
    say(Severity::note,
        (mixed ? "mixed line ends, CR LF becomes LF: " : "line ends are CR LF and become LF: ") + counts, name, remedy);
  }
}

// A rolling hash of windows of tokens: sum of token * base^(length - 1 - i) modulo 2^64. A hit is compared.
class RollingHash {
 public:
  explicit RollingHash(std::size_t length) {
    for (std::size_t i = 1; i < length; ++i) top_ *= kBase;
  }
  [[nodiscard]] static std::uint64_t of(std::span<const text::Token> window) {
    std::uint64_t hash = 0;
    for (const text::Token token : window) hash = hash * kBase + token + 1;
    return hash;
  }
  // The window one further: `out` leaves it, `in` enters.
  [[nodiscard]] std::uint64_t next(std::uint64_t hash, text::Token out, text::Token in) const {
    return (hash - (std::uint64_t{out} + 1) * top_) * kBase + in + 1;
  }

 private:
  static constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;
  std::uint64_t top_ = 1;
};

using Tokens = std::span<const text::Token>;

std::string_view as_bytes(Tokens tokens) { return {reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()}; }

template <class Visit>
void for_each_line(Tokens tokens, text::Token line_end, const Visit& visit) {
  while (!tokens.empty()) {
    const auto end = std::find(tokens.begin(), tokens.end(), line_end);
    const auto length = static_cast<std::size_t>(end - tokens.begin());
    visit(tokens.first(length));
    tokens = tokens.subspan(std::min(length + 1, tokens.size()));
  }
}

void check_size(Findings& findings, const data::Corpus& corpus, std::size_t context, const std::string& name) {
  const std::size_t train = corpus.part(data::Split::train).size();
  const std::size_t validation = corpus.part(data::Split::validation).size();
  const std::string counts =
      fmt::format("{} tokens for training, {} for validation, context {}", train, validation, context);
  try {
    data::check_windows(corpus, context, name);
  } catch (const Error& error) {
    findings.push_back(finding_of(error, "size"));
    return;
  }
  const std::size_t windows = (validation - 1 + context - 1) / context;
  if (windows >= kFewWindows) {
    findings.push_back({.severity = Severity::fine, .check = "size", .what = counts, .where = name});
    return;
  }
  findings.push_back({.severity = Severity::warning,
                      .check = "size",
                      .what = fmt::format("the validation part is {} {} of the context, too few to trust its loss: {}",
                                          windows, windows == 1 ? "window" : "windows", counts),
                      .where = name,
                      .remedy = "take a longer text or a shorter context"});
}

std::vector<std::size_t> counts_of(Tokens tokens, std::size_t vocabulary) {
  std::vector<std::size_t> counts(vocabulary, 0);
  for (const text::Token token : tokens) ++counts[token];
  return counts;
}

void check_vocabulary(Findings& findings, const data::Corpus& corpus, const text::Tokenizer& tokenizer,
                      const std::string& name) {
  const auto train = counts_of(corpus.part(data::Split::train), tokenizer.vocabulary());
  const auto validation = counts_of(corpus.part(data::Split::validation), tokenizer.vocabulary());
  std::size_t kinds = 0;
  std::size_t places = 0;
  std::string some;
  for (text::Token token = 0; token < train.size(); ++token) {
    if (train[token] > 0 || validation[token] == 0) continue;
    if (++kinds <= 5) some += (kinds == 1 ? "'" : ", '") + text::escaped(tokenizer.bytes_of(token)) + "'";
    places += validation[token];
  }
  if (kinds == 0) {
    findings.push_back({.severity = Severity::fine,
                        .check = "vocabulary",
                        .what = fmt::format("{} distinct tokens, all of the validation part's are in training",
                                            tokenizer.vocabulary()),
                        .where = name});
    return;
  }
  const double share = static_cast<double>(places) / static_cast<double>(corpus.part(data::Split::validation).size());
  findings.push_back({.severity = share < 1e-3 ? Severity::note : Severity::warning,
                      .check = "vocabulary",
                      .what = fmt::format("{} {} in the validation part only, {} of its {} tokens: {}{}", kinds,
                                          kinds == 1 ? "token stands" : "tokens stand", places,
                                          corpus.part(data::Split::validation).size(), some, kinds > 5 ? ", ..." : ""),
                      .where = name,
                      .remedy = "mix the text's parts, so that the last tenth is like the rest"});
}

void check_duplicates(Findings& findings, const data::Corpus& corpus, const text::Tokenizer& tokenizer,
                      const std::string& name) {
  const Tokens train = corpus.part(data::Split::train);
  const Tokens validation = corpus.part(data::Split::validation);
  const double windows = share_of_windows_in(train, validation, std::min(kDuplicateTokens, validation.size()));
  std::vector<text::Token> line_end;
  tokenizer.encode("\n", text::UnknownPolicy::skip, line_end);
  const double lines = line_end.empty() ? 0 : share_of_lines_in(train, validation, line_end.front(), kDuplicateLine);
  const double share = std::max(windows, lines);
  const std::string what = fmt::format("{:.1f} % of the validation part stands in the training part word for word ({})",
                                       100 * share, lines > windows ? "lines" : "windows");
  if (share < kFewDuplicates) {
    findings.push_back({.severity = Severity::fine, .check = "duplicates", .what = what, .where = name});
    return;
  }
  findings.push_back({.severity = share < kManyDuplicates ? Severity::warning : Severity::trouble,
                      .check = "duplicates",
                      .what = what + ": its loss will look better than the model is",
                      .where = name,
                      .remedy = "remove repeated passages before the text is split"});
}

void check_amount(Findings& findings, const data::Corpus& corpus, const models::Config& model, const Settings& settings,
                  const std::string& name) {
  const double seen =
      static_cast<double>(settings.steps) * static_cast<double>(settings.batch) * static_cast<double>(model.context);
  const double times = seen / static_cast<double>(std::max<std::size_t>(1, corpus.part(data::Split::train).size()));
  const std::string what = fmt::format("each token will be seen about {:.3g} times in {} steps", times, settings.steps);
  if (times <= kMuchRepetition) {
    findings.push_back({.severity = Severity::fine, .check = "amount", .what = what, .where = name});
    return;
  }
  findings.push_back({.severity = Severity::note,
                      .check = "amount",
                      .what = what + ": the model may learn the text by heart",
                      .where = name,
                      .remedy = "take fewer steps, or stop early by --patience"});
}

}  // namespace

double share_of_windows_in(Tokens train, Tokens validation, std::size_t length) {
  if (length == 0 || validation.size() < length || train.size() < length) return 0;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> windows;  // hash -> those not found yet
  const std::size_t count = validation.size() / length;
  for (std::size_t w = 0; w < count; ++w) {
    windows[RollingHash::of(validation.subspan(w * length, length))].push_back(w * length);
  }
  const RollingHash rolling(length);
  std::uint64_t hash = RollingHash::of(train.first(length));
  std::size_t found = 0;
  for (std::size_t at = 0;; ++at) {
    const auto candidates = windows.find(hash);
    if (candidates != windows.end()) {
      found += std::erase_if(candidates->second, [&](std::size_t start) {
        return std::equal(train.begin() + static_cast<std::ptrdiff_t>(at),
                          train.begin() + static_cast<std::ptrdiff_t>(at + length),
                          validation.begin() + static_cast<std::ptrdiff_t>(start));
      });
      if (candidates->second.empty()) windows.erase(candidates);
    }
    if (at + length >= train.size() || windows.empty()) break;
    hash = rolling.next(hash, train[at], train[at + length]);
  }
  return static_cast<double>(found) / static_cast<double>(count);
}

double share_of_lines_in(Tokens train, Tokens validation, text::Token line_end, std::size_t shortest) {
  std::unordered_set<std::string_view> lines;
  for_each_line(train, line_end, [&](Tokens line) {
    if (line.size() >= shortest) lines.insert(as_bytes(line));
  });
  std::size_t all = 0;
  std::size_t found = 0;
  for_each_line(validation, line_end, [&](Tokens line) {
    if (line.size() < shortest) return;
    all += line.size();
    if (lines.contains(as_bytes(line))) found += line.size();
  });
  return all == 0 ? 0 : static_cast<double>(found) / static_cast<double>(all);
}

Findings check_bytes(std::string_view bytes, const std::string& name, TokenizerKind tokenizer) {
  Findings findings;
  if (tokenizer == TokenizerKind::character) {
    try {
      std::string buffer;
      (void)text::clean_text(bytes, buffer, name);
    } catch (const Error& error) {
      findings.push_back(finding_of(error, "encoding"));
      return findings;
    }
  }
  find_marks(findings, bytes, name, tokenizer);
  find_traces(findings, bytes, name);
  if (findings.empty()) {
    const bool utf8 = !text::first_invalid(bytes);
    findings.push_back({.severity = Severity::fine,
                        .check = "encoding",
                        .what = fmt::format("{}, {} bytes", utf8 ? "UTF-8" : "bytes that are not UTF-8", bytes.size()),
                        .where = name});
  }
  check_line_ends(findings, bytes, name, tokenizer);
  return findings;
}

Findings check_corpus(const data::Corpus& corpus, const text::Tokenizer& tokenizer, const models::Config& model,
                      const Settings& settings, const std::string& name) {
  Findings findings;
  check_size(findings, corpus, model.context, name);
  check_vocabulary(findings, corpus, tokenizer, name);
  check_duplicates(findings, corpus, tokenizer, name);
  check_amount(findings, corpus, model, settings, name);
  return findings;
}

}  // namespace dikkat::train
