#include "dikkat/cli/heads_chance.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/head_null_file.h"
#include "dikkat/inspect/token_order.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kOrderDraws = 199;
constexpr double kOrderLevel = 0.01;
constexpr double kLongSeconds = 5;
constexpr std::size_t kEnoughDraws = 199;  // 1 / (199 + 1) = 5 % / kHeadScores
static_assert((kEnoughDraws + 1) * 5 == inspect::kHeadScores * 100);

// "120/999 draws, 23 s left", on a terminal that can take it back.
class DrawsView {
 public:
  explicit DrawsView(std::size_t draws) : draws_(draws) {}
  void show(std::size_t done) {
    const auto now = Clock::now();
    if (!shown_at_all() || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double left = seconds / static_cast<double>(done) * static_cast<double>(draws_ - done);
    write_error(fmt::format("\r{}/{} untrained models, {} left\x1b[K", done, draws_, duration_text(left)));
    is_there_ = true;
  }
  void finish() {
    if (is_there_) write_error("\r\x1b[K");
    is_there_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static bool shown_at_all() { return is_terminal(Stream::error) && has_escapes(Stream::error); }

  std::size_t draws_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_ = began_;
  bool is_there_ = false;
};

void warn(const std::string& what) { write_error("dikkat: warning: " + harmless(what) + "\n"); }

// A folder that cannot be written to costs time at the next look, no more.
void keep(const std::filesystem::path& path, const std::string& key, const inspect::HeadNull& null) {
  try {
    inspect::write_null(path, key, null);
  } catch (const Error& error) {
    warn(std::string("the untrained models' scores are not kept: ") + error.what());
  }
}

}  // namespace

FoundNull NullMaker::untrained() const {
  const models::Config& model = run_.model.config();
  const DType dtype = run_.model.parameters().dtype();
  const inspect::NullOptions options{.draws = wish_.draws, .seed = wish_.seed};
  const std::string key = inspect::null_key(model, dtype, windows_, options);
  const std::filesystem::path path = run_.folder.path() / "head-nulls" / key;
  inspect::StoredNull stored = inspect::read_null(path, key, shape());
  if (stored.null) return {std::move(stored.null), true};
  if (!stored.damage.empty()) warn(path.string() + " is damaged (" + stored.damage + "); it is made anew");
  FoundNull found{watched([&](const inspect::NullOptions& watched_options) {
    return inspect::untrained_null(model, dtype, windows_, watched_options, executor_);
  })};
  if (found.null) keep(path, key, *found.null);
  return found;
}

FoundNull NullMaker::shuffled() const {
  const inspect::TokenOrder order = inspect::token_order(windows_, kOrderDraws, wish_.seed);
  if (order.p <= kOrderLevel) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("the order of this text tells something (neighbours share {:.2f} nats, {:.2f} when shuffled), "
                    "so shuffles of it are no chance to compare with",
                    order.nats, order.shuffled_nats),
        {.key = "--shuffled",
         .hint = "leave --shuffled out to compare with untrained models, or give a text whose order means "
                 "nothing"});
  }
  return {watched([&](const inspect::NullOptions& options) {
    return inspect::shuffled_null(run_.model, windows_, options, executor_);
  })};
}

template <class Make>
std::optional<inspect::HeadNull> NullMaker::watched(Make&& make) const {
  announce();
  DrawsView view(wish_.draws);
  const auto progress = [&](std::size_t done) {
    view.show(done);
    return !stop_.asked();
  };
  std::optional<inspect::HeadNull> null = make(inspect::NullOptions{
      .draws = wish_.draws, .seed = wish_.seed, .progress = progress, .stopped = [&] { return stop_.asked(); }});
  view.finish();
  return null;
}

void NullMaker::announce() const {
  const double seconds = seconds_of_draw_ * static_cast<double>(wish_.draws);
  if (seconds < kLongSeconds || stop_.asked()) return;
  const bool untrained = wish_.null == NullKind::untrained;
  std::string line = fmt::format("dikkat: {} {} on {} windows: {}{}", grouped(wish_.draws),
                                 untrained ? "untrained models" : "orders of the text", grouped(windows_.count()),
                                 about_text(seconds), untrained ? ", once" : "");
  if (wish_.draws > kEnoughDraws) {
    line += fmt::format("; --draws {} is enough for p of {}", kEnoughDraws, 1.0 / (kEnoughDraws + 1));
  }
  write_error(line + "\n");
}

inspect::HeadNull NullMaker::shape() const {
  const models::Config& model = run_.model.config();
  const inspect::HeadColumns columns(windows_.length, {.direction = model.direction, .window = model.window});
  return {.draws = wish_.draws, .layers = model.layers, .heads = model.heads, .columns = columns.count(), .values = {}};
}

}  // namespace dikkat::cli
