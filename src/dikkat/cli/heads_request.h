// What dikkat heads is asked to look at: windows of a text, and what to compare them with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dikkat/cli/arguments.h"
#include "dikkat/cli/heads_look.h"
#include "dikkat/data/corpus.h"
#include "dikkat/inspect/head_null.h"
#include "dikkat/inspect/head_windows.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

inline constexpr std::size_t kHeadsWindows = 50;

struct HeadsWish {
  std::size_t windows = kHeadsWindows;
  std::size_t null_windows = kHeadsWindows;
  std::size_t length = 0;
  std::size_t draws = inspect::kNullDraws;
  std::uint64_t seed = 1;
  NullKind null = NullKind::untrained;
  HeadsShown choice = {};
};
// Error{usage} for values no model of this shape can take, Error{limit} for more draws than 1 GiB holds,
// Error{incompatible} for a model that sees one token.
[[nodiscard]] HeadsWish heads_wish(const Arguments& arguments, const models::Config& model);

struct HeadsSubject {
  data::Corpus corpus;
  data::Split split = data::Split::all;
  std::string name;  // of the file

  [[nodiscard]] std::span<const text::Token> tokens() const { return corpus.part(split); }
  // "the validation part of text.txt"
  [[nodiscard]] std::string source() const;
};
// --file, or the run's own text: its validation part where that holds as many windows as are wished for.
[[nodiscard]] HeadsSubject heads_subject(const Arguments& arguments, const train::LoadedRun& run,
                                         const HeadsWish& wish);
// Error{malformed} for a text that is too short, saying which --length it has.
[[nodiscard]] inspect::HeadWindows windows_of(const HeadsSubject& subject, const HeadsWish& wish,
                                              std::size_t vocabulary);

}  // namespace dikkat::cli
