#include "dikkat/inspect/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/inspect/readout.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/kernels/maths.h"

namespace dikkat::inspect {
namespace {

using models::PoolingKind;

bool causal(const models::Config& config) { return config.direction == models::Direction::causal; }

bool blind_blocks(const models::Config& config) { return config.layers == 0 || !causal(config); }

random::Stream orders(std::uint64_t seed) { return random::stream(seed, "order test"); }

std::size_t length_of(const models::Config& config, std::span<const text::Token> tokens, const OrderOptions& options) {
  if (tokens.size() < 4) {
    throw Error(ErrorKind::malformed,
                fmt::format("a text of {} tokens is too short: two to exchange, one that stays, one that follows",
                            tokens.size()),
                {.hint = "give a longer text"});
  }
  if (config.context < 3) {
    throw Error(ErrorKind::incompatible,
                fmt::format("a context of {} has no order to change: two tokens to exchange and one that stays",
                            config.context),
                {.key = "context", .hint = "ask a model that sees more at once"});
  }
  if (std::all_of(tokens.begin(), tokens.end(), [&](text::Token token) { return token == tokens.front(); })) {
    throw Error(ErrorKind::malformed, "the text is one token over and over: it has no order to change",
                {.hint = "give another text"});
  }
  if (options.length == 0) return std::min(config.context, tokens.size() - 1);
  if (options.length < 3 || options.length > config.context) {
    throw Error(ErrorKind::usage,
                fmt::format("windows of {} tokens are not between 3 and the model's context of {}", options.length,
                            config.context),
                {.key = "--length", .hint = "give a number within it, or leave it out"});
  }
  return options.length;
}

// The windows' tokens but for the last of each in another order.
std::vector<text::Token> reordered(const data::Batch& batch, std::size_t length, std::size_t first_window,
                                   std::uint64_t seed) {
  std::vector<text::Token> tokens = batch.inputs;
  for (std::size_t w = 0; w < batch.rows.samples(); ++w) {
    const std::size_t begin = batch.rows.first_row[w];
    const auto place = static_cast<std::uint32_t>(first_window + w);
    const std::vector<std::size_t> order = drawn_order(orders(seed), place, length - 1);
    for (std::size_t t = 0; t + 1 < length; ++t) tokens[begin + t] = batch.inputs[begin + order[t]];
  }
  return tokens;
}

// What the model says after the last token of each window.
class LastRows final : public nn::Tap {
 public:
  LastRows(const kernels::Executor& executor, const kernels::Rows& rows) : executor_(executor), rows_(rows) {}
  bool wants(std::string_view path) const override { return path == "logits"; }
  void see(std::string_view, Tensor& logits) override {
    for (std::size_t w = 0; w < rows_.samples(); ++w) {
      said.push_back(readout_of(executor_, logits, rows_.first_row[w + 1] - 1));
    }
  }
  std::vector<Readout> said;

 private:
  const kernels::Executor& executor_;
  const kernels::Rows& rows_;
};

void compare(const kernels::Executor& executor, const Readout& as_is, const Readout& moved, text::Token next,
             OrderTest& test) {
  test.distances.push_back(total_variation(as_is.probabilities, moved.probabilities));
  test.other_answers += as_is.top() != moved.top() ? 1U : 0U;
  test.loss_changes.push_back(moved.loss_nats(executor, next) - as_is.loss_nats(executor, next));
}

void finish(OrderTest& test) {
  test.interval = stats::t_interval(test.distances);
  test.loss_interval = stats::t_interval(test.loss_changes);
  test.unmoved = static_cast<std::size_t>(std::count(test.distances.begin(), test.distances.end(), 0.0));
}

void check(const models::Config& config, const data::CodedSeries& series, std::span<const std::size_t> kept) {
  if (series.channels != config.channels) {
    throw Error(ErrorKind::incompatible,
                fmt::format("series of {} channels for a model of {}", series.channels, config.channels));
  }
  for (const std::size_t channel : kept) {
    if (channel >= series.channels) {
      throw Error(ErrorKind::usage, fmt::format("there is no channel {} of {}", channel, series.channels));
    }
  }
  for (std::size_t s = 0; s < series.count(); ++s) {
    if (series.length(s) > config.context) {
      throw Error(ErrorKind::incompatible, fmt::format("a series of {} steps is longer than the model's context of {}",
                                                       series.length(s), config.context));
    }
  }
}

enum class Order : std::uint8_t { as_is, drawn };

class SeriesPasses {
 public:
  SeriesPasses(const models::SeriesModel& model, const kernels::Executor& executor, const data::CodedSeries& series)
      : model_(model), executor_(executor), series_(series) {}

  // (count, outputs) of series [first, first + count).
  [[nodiscard]] Tensor outputs(std::size_t first, std::size_t count, Order order, std::span<const std::size_t> kept,
                               std::uint64_t seed) {
    const std::size_t extra = model_.extra_rows();
    std::vector<std::size_t> lengths;
    for (std::size_t s = first; s < first + count; ++s) lengths.push_back(series_.length(s) + extra);
    kernels::Rows rows;
    rows.lay_out(lengths, model_.config().context + extra);
    const Tensor values = Tensor::zeros({rows.count(), series_.channels}, model_.parameters().dtype());
    for (std::size_t s = 0; s < count; ++s) put(first + s, rows.first_row[s], order, kept, seed, values);
    Context context{.executor = executor_, .memory = heap(), .rows = &rows};
    return model_.forward(context, values).value;
  }

 private:
  void put(std::size_t s, std::size_t row, Order order, std::span<const std::size_t> kept, std::uint64_t seed,
           const Tensor& values) const {
    const std::size_t channels = series_.channels;
    const std::vector<std::size_t> places = drawn_order(orders(seed), static_cast<std::uint32_t>(s), series_.length(s));
    with_number(values.dtype(), [&]<class T>() {
      T* to = values.data<T>() + row * channels;
      for (std::size_t t = 0; t < series_.length(s); ++t) {
        for (std::size_t c = 0; c < channels; ++c) {
          const bool stays = order == Order::as_is || std::find(kept.begin(), kept.end(), c) != kept.end();
          const std::size_t step = series_.first_step[s] + (stays ? t : places[t]);
          *to++ = static_cast<T>(series_.values[step * channels + c]);
        }
      }
    });
  }

  const models::SeriesModel& model_;
  kernels::Executor executor_;
  const data::CodedSeries& series_;
};

// Probabilities of the classes of row `row`; of one logit those of the two classes.
std::vector<double> class_probabilities(const kernels::Executor& executor, const Tensor& outputs, std::size_t row) {
  if (outputs.shape()[1] > 1) return readout_of(executor, outputs, row).probabilities;
  double logit = 0;
  with_number(outputs.dtype(), [&]<class T>() { logit = static_cast<double>(outputs.data<T>()[row]); });
  const Tensor pair = Tensor::zeros({1, 2}, DType::f64);
  pair.data<double>()[1] = logit;
  return readout_of(executor, pair, 0).probabilities;
}

void compare_series(const kernels::Executor& executor, models::Task task, const Tensor& as_is, const Tensor& moved,
                    std::size_t row, OrderTest& test) {
  if (task == models::Task::regress) {
    with_number(as_is.dtype(), [&]<class T>() {
      const double change = static_cast<double>(moved.data<T>()[row]) - static_cast<double>(as_is.data<T>()[row]);
      test.distances.push_back(std::abs(change));
    });
    return;
  }
  const std::vector<double> before = class_probabilities(executor, as_is, row);
  const std::vector<double> after = class_probabilities(executor, moved, row);
  test.distances.push_back(total_variation(before, after));
  const auto answer = [](const std::vector<double>& p) { return std::max_element(p.begin(), p.end()) - p.begin(); };
  test.other_answers += answer(before) != answer(after) ? 1U : 0U;
}

}  // namespace

bool blind_to_order(const models::Config& config) {
  if (config.position != models::PositionKind::none || config.window != 0) return false;
  if (config.task == models::Task::next_token) return !causal(config) || config.layers == 1;
  switch (config.pooling) {
    case PoolingKind::last: return false;  // another reading stands there
    case PoolingKind::mean:
    case PoolingKind::attention_query: return blind_blocks(config);
    case PoolingKind::class_token: return blind_blocks(config) || config.layers == 1;  // it sees all the steps
  }
  return false;
}

bool exactly_blind(const models::Config& config) {
  return config.task != models::Task::next_token && config.layers == 0 && blind_to_order(config) &&
         config.pooling == PoolingKind::attention_query;
}

OrderTest order_test(const models::LanguageModel& model, const kernels::Executor& executor,
                     std::span<const text::Token> tokens, const OrderOptions& options) {
  OrderTest test;
  test.length = length_of(model.config(), tokens, options);
  const std::vector<std::size_t> starts =
      windows_over(tokens, test.length, std::max<std::size_t>(options.windows, 1), options.seed);
  Passes passes(model, executor);
  const std::size_t at_a_time = windows_at_a_time(test.length);
  data::Batch batch;
  for (std::size_t first = 0; first < starts.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, starts.size() - first);
    fill(tokens, std::span(starts).subspan(first, count), test.length, batch);
    LastRows as_is(executor, batch.rows);
    passes.look(batch, as_is);
    batch.inputs = reordered(batch, test.length, first, options.seed);
    LastRows moved(executor, batch.rows);
    passes.look(batch, moved);
    for (std::size_t w = 0; w < count; ++w) {
      const auto next = static_cast<text::Token>(batch.targets[batch.rows.first_row[w + 1] - 1]);
      compare(executor, as_is.said[w], moved.said[w], next, test);
    }
  }
  finish(test);
  return test;
}

OrderTest order_test(const models::SeriesModel& model, const kernels::Executor& executor,
                     const data::CodedSeries& series, std::span<const std::size_t> kept, std::uint64_t seed) {
  check(model.config(), series, kept);
  SeriesPasses passes(model, executor, series);
  OrderTest test;
  const std::size_t at_a_time = windows_at_a_time(model.config().context);
  for (std::size_t first = 0; first < series.count(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, series.count() - first);
    const Tensor as_is = passes.outputs(first, count, Order::as_is, kept, seed);
    const Tensor moved = passes.outputs(first, count, Order::drawn, kept, seed);
    for (std::size_t s = 0; s < count; ++s) compare_series(executor, model.config().task, as_is, moved, s, test);
  }
  finish(test);
  return test;
}

}  // namespace dikkat::inspect
