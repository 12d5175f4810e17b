// The lesson in English, from step 7 on: the root of the width, the three exercises, the seven terms, what to change.
#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/size_text.h"
#include "dikkat/lessons/self_attention_layout.h"

namespace dikkat::lessons {
namespace {

std::string root_of_width(const SelfAttentionLesson& lesson) {
  const WidthFigures& narrow = lesson.widths[1];
  constexpr std::size_t kSettled = 2;
  const auto [least, most] =
      std::ranges::minmax(std::span(lesson.widths).subspan(kSettled), {}, &WidthFigures::scaled_largest);
  const WidthFigures& wide = lesson.widths.back();
  std::string text = fmt::format(
      "7. Why the scores are divided by sqrt(d_k)\n"
      "   A product of two random vectors of width d_k spreads as sqrt(d_k). 2,000\n"
      "   random queries, 8 keys (seed {}):\n"
      "                 spread of scores        mean largest weight of 8\n"
      "        d_k     raw   / sqrt(d_k)        raw   / sqrt(d_k)\n",
      decimal(lesson.options.scaling_seed));
  for (const WidthFigures& f : lesson.widths) {
    text += fmt::format("      {:5}   {:5.1f}        {:5.2f}       {:5.2f}        {:5.2f}  {}\n", f.width,
                        f.raw_deviation, f.scaled_deviation, f.raw_largest, f.scaled_largest, bar(f.raw_largest, 20));
  }
  return text + fmt::format(
                    "   Undivided, softmax goes from {:.2f} (d_k {}) to {:.2f} (d_k {}): one key takes\n"
                    "   all, and the gradient p(1 - p) dies. Divided, it is {:.2f} at d_k {}, {:.2f} at {},\n"
                    "   and from {} on it stays between {:.2f} and {:.2f}, however wide.\n"
                    "   In this run, mean entropy of the rows:\n"
                    "   {:.3f} nats divided, {:.3f} undivided (of at most {:.3f}).\n\n",
                    narrow.raw_largest, narrow.width, wide.raw_largest, wide.width, lesson.widths[0].scaled_largest,
                    lesson.widths[0].width, narrow.scaled_largest, narrow.width, lesson.widths[kSettled].width,
                    least.scaled_largest, most.scaled_largest, lesson.entropy_scaled, lesson.entropy_unscaled,
                    lesson.most_entropy);
}

const char* yes_or_no(bool holds) { return holds ? "yes" : "NO"; }

std::string mask_exercise(const SelfAttentionLesson& lesson) {
  return "8. Exercise 1: a mask. Minus infinity is added to what may not be seen, before\n"
         "   softmax; the causal mask hides all that comes later, as in a decoder that\n"
         "   writes from left to right\n" +
         Pictures(lesson.options.words).table(lesson.causal.weights[0]) +
         fmt::format(
             "   Hidden weights are exactly 0, rows are 1 in sum again. The first word sees\n"
             "   only itself, so its output is its value, to the bit: {}.\n"
             "   -1e9 in place of minus infinity gives the same bits: {}.\n\n",
             yes_or_no(lesson.first_output_is_first_value), yes_or_no(lesson.minus_1e9_is_minus_infinity));
}

std::string heads_exercise(const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& o = lesson.options;
  const bool causal = o.direction == kernels::Direction::causal;
  const Attended& split = causal ? lesson.split.causal : lesson.split.free;
  const Attended& own = causal ? lesson.per_head.causal : lesson.per_head.free;
  const Pictures pictures(o.words);
  std::string text = fmt::format(
      "9. Exercise 2: several heads. Q, K and V are cut in {} of\n"
      "   d_k = d_model / heads = {} / {} = {}; each chunk attends alone, the results are\n"
      "   put side by side and go through one more matrix, Wo\n",
      counted(o.heads, "chunk"), o.width, o.heads, o.width / o.heads);
  for (std::size_t h = 0; h < o.heads; ++h) text += fmt::format("   head {}\n", h) + pictures.table(split.weights[h]);
  if (own.weights == split.weights) {
    text += fmt::format(
        "   A head that is an instance of its own (seed {}) is the same one: there is\n"
        "   nothing to cut.\n",
        decimal(o.seed));
  } else {
    text += fmt::format("   A head that is an instance of its own (seeds {} to {}) sees other things:\n",
                        decimal(o.seed), decimal(added(o.seed, static_cast<std::uint32_t>(o.heads - 1))));
    for (std::size_t h = 0; h < o.heads; ++h) text += fmt::format("   head {}\n", h) + pictures.table(own.weights[h]);
  }
  return text + fmt::format(
                    "   With one head of full width both are the single attention, to the bit: {}.\n"
                    "   PyTorch's MultiheadAttention({}, {}) computes this too: input (1,{},{}),\n"
                    "   output (1,{},{}), weights (1,{},{}), averaged over heads; row of {} there:\n"
                    "   {}\n\n",
                    yes_or_no(lesson.one_head_is_single_attention), o.width, o.heads, lesson.x.rows, lesson.x.columns,
                    split.output.rows, split.output.columns, lesson.x.rows, lesson.x.rows, quoted(o.words.front()),
                    listed(mean_of(split.weights).row(0)));
}

std::string places(const std::vector<std::size_t>& columns, const Words& words) {
  std::string text;
  for (const std::size_t c : columns) text += (text.empty() ? "" : ", ") + label(words[c]);
  return text;
}

// Under the mask of the steps: the causal one ties weights to places.
std::string another_order(const SelfAttentionLesson& lesson) {
  if (lesson.x.rows == 1) return "   One word has no other order.\n";
  Words moved;
  for (const std::size_t i : lesson.permuted.order) moved.push_back(lesson.options.words[i]);
  const std::string head = fmt::format("   And the same words in another order, \"{}\":\n", joined(moved));
  const std::string free =
      fmt::format("(differences {:.1e} and {:.1e})", lesson.permuted.weights_apart, lesson.permuted.output_apart);
  if (!lesson.causal_permuted) {
    return head + "   weights and outputs move along with their words\n   " + free +
           ".\n   Attention by itself does not know the order of words.\n";
  }
  return head + fmt::format(
                    "   weights and outputs do not just move along with their words (differences\n"
                    "   {:.2f} and {:.2f}): whom a word sees depends on where it stands. A causal\n"
                    "   mask does know the order of words; without it they would move along\n"
                    "   {}.\n",
                    lesson.causal_permuted->weights_apart, lesson.causal_permuted->output_apart, free);
}

std::string sentences_exercise(const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& o = lesson.options;
  std::string text = "10. Exercise 3: two sentences through the same instance\n";
  if (lesson.two) {
    const Matrix& weights = lesson.two->second.weights[0];
    text += Pictures(o.second_words).table(weights) +
            fmt::format(
                "   What changes: the weights (by {:.3f} on average, by {:.3f} at most), and\n"
                "   whom each word looks at most:\n"
                "   {}; now\n   {}.\n"
                "   What stays: the projections Wq, Wk, Wv, all shapes, rows that are 1 in sum.\n",
                lesson.two->distance.mean, lesson.two->distance.largest,
                places(row_maxima(lesson.base.weights[0]), o.words), places(row_maxima(weights), o.second_words));
  } else {
    text += fmt::format(
        "   Weights can be compared cell by cell where both have as many words:\n   one has {}, the other {}.\n"
        "   Give --second a sentence of {} words.\n",
        o.words.size(), o.second_words.size(), o.words.size());
  }
  return text + another_order(lesson) + "\n";
}

std::string heads_apart(const SelfAttentionLesson& lesson) {
  if (lesson.options.heads == 1) return "there is one head here, and nothing to join";
  return fmt::format("{} heads here differ by {:.3f} on average", lesson.options.heads, lesson.heads_apart);
}

std::string terms(const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& o = lesson.options;
  const std::string first = quoted(o.words.front());
  const std::size_t last = o.words.size() - 1;
  return "11. Seven terms, with this run's figures\n" +
         fmt::format(
             "   query (Q)          \"the question vector\": learned from a word's vector, what\n"
             "                      it looks for;\n"
             "                      of {0}: {1}\n"
             "   key (K)            \"the label vector\": what a word contains, held against\n"
             "                      queries;\n"
             "                      of {0}: {2}\n"
             "   value (V)          \"the content vector\": what is handed on when the word is\n"
             "                      looked at;\n"
             "                      of {0}: {3}\n",
             first, listed(lesson.base.queries.row(0)), listed(lesson.base.keys.row(0)),
             listed(lesson.base.values.row(0))) +
         fmt::format(
             "   scaled dot-product attention\n"
             "                      \"the attention formula\": softmax(Q K^T / sqrt(d_k)) V;\n"
             "                      dividing keeps softmax from saturating in high dimensions;\n"
             "                      score of {0} and {1}: {2:.3f} / sqrt({3}) = {4:.3f}\n"
             "   self-attention     \"the word looks at itself and others\": Q, K, V come from\n"
             "                      one sequence; {1} looks at itself with {5:.3f}\n",
             first, quoted(o.words[last]), lesson.raw_score, o.head_width, lesson.scores(0, last),
             lesson.base.weights[0](last, last)) +
         fmt::format(
             "   attention weights  \"how much focus\": what softmax makes of the scores, a\n"
             "                      distribution over words;\n"
             "                      of {0}: {1}, sum {2:.4f}\n"
             "   multi-head attention\n"
             "                      \"parallel attention\": several projections attend, the\n"
             "                      results are joined;\n"
             "                      {3}\n\n",
             first, listed(lesson.base.weights[0].row(0)), sum_of(lesson.base.weights[0].row(0)), heads_apart(lesson));
}

// What this run's options have done to the published one.
std::string changed(const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& now = lesson.options;
  const SelfAttentionOptions was;
  std::vector<std::string> changes;
  const auto note = [&](bool differs, std::string what) {
    if (differs) changes.push_back(std::move(what));
  };
  note(now.seed != was.seed, fmt::format("seed {} -> {}", decimal(was.seed), decimal(now.seed)));
  note(now.words != was.words, fmt::format("sentence -> \"{}\"", joined(now.words)));
  note(now.second_words != was.second_words, fmt::format("second sentence -> \"{}\"", joined(now.second_words)));
  note(now.width != was.width, fmt::format("d_model {} -> {}", was.width, now.width));
  note(now.head_width != was.head_width, fmt::format("d_k {} -> {}", was.head_width, now.head_width));
  note(now.heads != was.heads, fmt::format("heads {} -> {}", was.heads, now.heads));
  note(now.direction != was.direction, "mask none -> causal");
  if (changes.empty()) return {};
  std::string text = "12. What you changed, and what it did to the published run\n";
  for (const std::string& change : changes) text += "   " + change + "\n";
  if (!lesson.from_published) {
    text += fmt::format("   The table has {} x {} weights now; the published one has 6 x 6.\n", now.words.size(),
                        now.words.size());
  } else if (lesson.from_published->largest == 0) {
    text += "   No weight of step 5 has moved.\n";
  } else {
    text += fmt::format("   The weights of step 5 moved by {:.3f} on average, by {:.3f} at most.\n",
                        lesson.from_published->mean, lesson.from_published->largest);
  }
  if (now.heads != was.heads) {
    text += fmt::format("   Step 9 has {} of width {} now; the published run has {} of {}.\n",
                        counted(now.heads, "head"), now.width / now.heads, was.heads, was.width / was.heads);
  }
  if (now.words != was.words || now.second_words != was.second_words) {
    text +=
        "   The vectors here are drawn by place, whatever the words: other words bring\n"
        "   other labels only. A model looks each word up in a table of its own; so does\n"
        "   dikkat attend.\n";
  }
  return text + "\n";
}

std::string what_next() {
  return "Change one thing and see what changes:\n"
         "   dikkat lesson self-attention --seed 7           other vectors and projections\n"
         "   dikkat lesson self-attention --mask causal      the main table too\n"
         "   dikkat lesson self-attention --heads 4          four narrow heads\n"
         "   dikkat lesson self-attention --d-model 64 --dk 64\n"
         "   dikkat lesson self-attention --sentence \"Time flies like an arrow\"\n"
         "   dikkat attend \"any sentence of yours\"           each word has its own vector\n";
}

}  // namespace

std::string exercises_explained(const SelfAttentionLesson& lesson) {
  return root_of_width(lesson) + mask_exercise(lesson) + heads_exercise(lesson) + sentences_exercise(lesson) +
         terms(lesson) + changed(lesson) + what_next();
}

}  // namespace dikkat::lessons
