#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/heat_map.h"
#include "dikkat/cli/inspection.h"
#include "dikkat/cli/inspection_files.h"
#include "dikkat/cli/inspection_json.h"
#include "dikkat/cli/inspection_page.h"
#include "dikkat/cli/inspection_pass.h"
#include "dikkat/cli/inspection_view.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/signals.h"
#include "dikkat/cli/words.h"
#include "dikkat/generate/session.h"
#include "dikkat/inspect/capture.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

// --- what is asked for ---

struct OutputFiles {
  std::optional<std::string> npz, csv, html;
  [[nodiscard]] bool any() const { return npz || csv || html; }
};

// None of them exists, and no two are the same.
OutputFiles output_files(const Arguments& arguments) {
  const OutputFiles files{arguments.text("npz"), arguments.text("csv"), arguments.text("html")};
  std::set<std::string> names;
  for (const auto& [option, file] : {std::pair{"--npz", files.npz}, {"--csv", files.csv}, {"--html", files.html}}) {
    if (!file) continue;
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(*file, ignored))) {
      throw Error(ErrorKind::usage, "it exists already, and nothing is overwritten",
                  {.file = *file, .hint = fmt::format("choose another {}", option)});
    }
    if (file->empty() || !names.insert(*file).second) {
      throw Error(ErrorKind::usage, "each file needs a name of its own",
                  {.key = option, .hint = fmt::format("choose another {}", option)});
    }
  }
  return files;
}

generate::Sampling sampling_of(const Arguments& arguments) {
  generate::Sampling sampling;
  sampling.temperature = arguments.value("temperature", sampling.temperature);
  sampling.seed = arguments.value("seed", sampling.seed);
  generate::check(sampling);
  return sampling;
}

// Tokens of the context that are left for the text when the model is to write so many.
std::size_t room_for_text(std::size_t tokens, std::size_t context) {
  if (tokens < context) return context - tokens;
  throw Error(ErrorKind::usage,
              fmt::format("--generate {} leaves no room for the text in a context of {} tokens", tokens, context),
              {.key = "--generate",
               .hint = context > 1 ? fmt::format("give --generate at most {}", context - 1) : "leave --generate out"});
}

// The text's tokens and those the model writes after it, drawn as `dikkat generate` draws them.
std::vector<text::Token> continued(std::vector<text::Token> tokens, std::size_t count,
                                   const generate::Sampling& sampling, const models::LanguageModel& model,
                                   const kernels::Executor& executor) {
  if (count == 0) return tokens;
  generate::Sampler sampler(sampling);
  generate::Session session(model, executor);
  Tensor logits = session.feed(tokens);
  for (std::size_t draw = 0; draw < count; ++draw) {
    tokens.push_back(with_number(logits.dtype(), [&]<class T>() {
      return sampler.next_token<T>(executor, std::span<const T>(logits.span<T>()), tokens, draw);
    }));
    if (draw + 1 < count) logits = session.feed(std::span(tokens).last(1));
  }
  return tokens;
}

Subject subject_of(const Arguments& arguments, const generate::Sampling& sampling, const train::LoadedRun& run,
                   const kernels::Executor& executor) {
  const std::size_t count = arguments.has("generate") ? arguments.positive("generate", 1) : 0;
  Subject subject{.run = run,
                  .text = chosen_text(arguments, run, room_for_text(count, run.model.config().context)),
                  .tokens = {},
                  .labels = {},
                  .rule = inspect::map_rule(run.model.config()),
                  .choice = head_choice(arguments, run.model.config())};
  subject.tokens = continued(subject.text.tokens, count, sampling, run.model, executor);
  subject.labels = inspect::token_labels(*run.tokenizer, subject.tokens, subject.text.tokens.size());
  if (subject.text.skipped != 0) {
    write_error("dikkat: left out " + grouped(subject.text.skipped) +
                (subject.text.skipped == 1 ? " character" : " characters") + " that the model has no token for\n");
  }
  return subject;
}

// --- the one pass ---

inspect::TappedPass short_pass(inspect::Passes& passes) {
  return [&passes](std::size_t rows, nn::Tap& tap) {
    const std::vector<text::Token> tokens(rows, 0);
    static_cast<void>(passes.logits(tokens, &tap));
  };
}

std::vector<std::string> wanted_paths(const Arguments& arguments, inspect::Passes& passes) {
  if (!arguments.has("path")) return {};
  std::vector<std::string> known;
  for (const auto& entry : inspect::activations(short_pass(passes), 1)) known.push_back(entry.path);
  return inspect::matching(arguments.texts("path"), known);
}

// --- what is said ---

std::string headline(const Subject& subject) {
  const models::Config& model = subject.run.model.config();
  std::string line =
      fmt::format("{}, step {}: {} layers of {} heads; {}", text::escaped(subject.run.folder.path().string()),
                  subject.run.state.step, model.layers, model.heads, subject.text.where());
  if (subject.generated() != 0) line += fmt::format(", then {} written by the model", subject.generated());
  return line + "\n";
}

std::string heads_text(const kernels::Executor& executor, const Subject& subject,
                       const std::vector<inspect::HeadSummary>& summaries,
                       const std::vector<inspect::LayerHeads>& layers, const Look& look) {
  if (summaries.empty()) return "The model has no layers: there is no attention to look at.\n";
  const inspect::HeadSummary& chosen = most_focused(summaries);
  std::string out;
  if (summaries.size() > 1) {
    out += "\nEach head as layer.head: rows look at columns, the first token is at the top left.\n\n" +
           overview(summaries, look);
  }
  out += (summaries.size() > 1 ? "" : "\n") + facts_table(summaries);
  out +=
      "(means over the rows of this text, in tokens where they are lengths; descriptions, not tests against chance)\n";
  out += fmt::format("\nHead {}.{}{}: each row's token looks at the columns' tokens.\n", chosen.layer, chosen.head,
                     summaries.size() > 1 ? ", the most focused (--layer and --head choose another)" : "");
  const auto layer = std::find_if(layers.begin(), layers.end(), [&](const auto& l) { return l.layer == chosen.layer; });
  const ShownTokens shown = shown_tokens(subject.labels, look);
  return out + large_map(square_of(executor, subject.rule, *layer, chosen.head, shown), shown, subject.labels, look);
}

std::string activations_text(const std::vector<ActivationFacts>& all, const Look& look) {
  std::string out = "\n" + activations_table(all);
  for (const ActivationFacts& facts : all) out += small_map(facts, look);
  return out;
}

// --- the command ---

int list_activations(const Arguments& arguments, const train::LoadedRun& run, inspect::Passes& passes, Output& output) {
  const auto entries = inspect::activations(short_pass(passes), run.model.config().context);
  std::size_t widest = 0;
  for (const auto& entry : entries) widest = std::max(widest, entry.path.size());
  Json list = Json::array();
  for (const auto& entry : entries) {
    list.push(Json::object().set("path", entry.path).set("shape", entry.shape));
    if (!arguments.json()) output.line(fmt::format("{:<{}}  {}", entry.path, widest, entry.shape));
  }
  if (arguments.json()) output.line(text_of(Json::object().set("activations", std::move(list))));
  return 0;
}

// One call of the command.
struct Work {
  const Arguments& arguments;
  const generate::Sampling& sampling;
  inspect::Passes& passes;
  const Subject& subject;
  const std::vector<std::string>& paths;  // of activations; empty: attention is looked at
  const train::StopRequest& stop;
  Output& output;

  void pass(const Sinks& sinks) const { run_pass(passes, subject, paths, sinks, stop); }
};

void say_written(const Work& work, const OutputFiles& files) {
  Json list = Json::array();
  for (const auto& file : {files.npz, files.csv, files.html}) {
    if (!file) continue;
    const std::uintmax_t bytes = std::filesystem::file_size(*file);
    list.push(Json::object().set("file", *file).set("bytes", bytes));
    if (!work.arguments.json()) work.output.line("Wrote " + text::escaped(*file) + ", " + size_text(bytes));
  }
  if (work.arguments.json()) work.output.line(text_of(Json::object().set("files", std::move(list))));
}

// To files: nothing is drawn.
void inspect_to_files(const Work& work, const OutputFiles& files) {
  std::optional<NpzFile> npz;
  std::optional<CsvFile> csv;
  std::vector<inspect::LayerHeads> heads;
  Sinks sinks;
  const auto take = [&](auto& file) {
    if (work.paths.empty()) {
      sinks.maps.push_back(&file);
    } else {
      sinks.activations.push_back(&file);
    }
  };
  if (files.npz) take(npz.emplace(*files.npz, work.subject));
  const auto content = work.paths.empty() ? CsvFile::Content::maps : CsvFile::Content::activations;
  if (files.csv) take(csv.emplace(*files.csv, content, work.subject));
  if (files.html) sinks.heads = &heads;
  work.pass(sinks);
  if (npz) npz->finish();
  if (csv) csv->finish();
  if (files.html) {
    const std::string drawn =
        fmt::format("temperature {}, seed {}", text_of(work.sampling.temperature), work.sampling.seed);
    replace_file(*files.html,
                 inspect::html_page(page_data(work.subject, std::move(heads), drawn), work.passes.executor()));
  }
  say_written(work, files);
}

void heads_as_json(const Work& work) {
  Summaries summaries(work.passes.executor(), work.subject);
  JsonMaps maps;
  Sinks sinks{.maps = {&summaries}};
  const std::size_t tokens = work.subject.tokens.size();
  const bool few = work.subject.choice.count() * tokens * tokens <= kMostJsonNumbers;
  if (few || work.subject.choice.given) sinks.maps.push_back(&maps);
  work.pass(sinks);
  work.output.line(text_of(subject_json(work.subject).set("heads", heads_json(summaries.all(), maps.maps()))));
}

void draw_heads(const Work& work, const Look& look) {
  Summaries summaries(work.passes.executor(), work.subject);
  std::vector<inspect::LayerHeads> heads;
  work.pass({.maps = {&summaries}, .heads = &heads});
  work.output.write(headline(work.subject) +
                    heads_text(work.passes.executor(), work.subject, summaries.all(), heads, look));
}

void show_activations(const Work& work, const Look& look) {
  const bool json = work.arguments.json();
  ActivationView view(json ? ActivationView::Values::kept : ActivationView::Values::left_out);
  work.pass({.activations = {&view}});
  if (json) {
    work.output.line(text_of(subject_json(work.subject).set("activations", activations_json(view))));
  } else {
    work.output.write(headline(work.subject) + activations_text(view.all(), look));
  }
}

void show(const Work& work, const OutputFiles& files, const Look& look) {
  if (files.any()) return inspect_to_files(work, files);
  if (!work.paths.empty()) return show_activations(work, look);
  if (work.arguments.json()) return heads_as_json(work);
  draw_heads(work, look);
}

int run_inspect(const Arguments& arguments, Output& output) {
  const Look look = look_of(arguments);
  const OutputFiles files = output_files(arguments);
  const generate::Sampling sampling = sampling_of(arguments);
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  inspect::Passes passes(run.model, execution.executor());
  if (arguments.has("list")) return list_activations(arguments, run, passes, output);
  const std::vector<std::string> paths = wanted_paths(arguments, passes);
  const Subject subject = subject_of(arguments, sampling, run, execution.executor());
  const train::StopRequest& stop = stop_on_signals("dikkat: stopping\n");
  try {
    show({arguments, sampling, passes, subject, paths, stop, output}, files, look);
  } catch (const Stopped&) {
    return exit_code_of_signal(stop.signal.load());
  }
  return 0;
}

}  // namespace

Command inspect_command() {
  const generate::Sampling sampling;
  return {
      .name = "inspect",
      .summary = "see where every head of a trained model looks, and any activation",
      .description =
          "Runs the model over a text once and shows its attention: every head small, what it looks at, one head "
          "large. "
          "The weights are those of the forward pass itself, to the bit, before dropout; rows sum to one.\n"
          "With --path it shows other activations; --list names them all. With a file to write, nothing is drawn.\n"
          "NPZ: tokens (T), texts (T), generated (T), and the maps as blocks.I.attention.pattern (T,H,T): token, head, "
          "token looked at; of one head alone blocks.I.attention.pattern.H (T,T). With --path those activations "
          "instead.\n"
          "CSV: layer,head,query,query_token,key,key_token,weight for each key a query sees; with --path "
          "path,row,token,index,value.\n"
          "With --json it prints one object; weights of more than a million numbers in all are left out unless --layer "
          "or --head chooses.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups = {{"Text", text_options()},
                 {"Text that the model writes after it",
                  {{.name = "generate", .value = "N", .help = "let the model write N tokens more; they are marked"},
                   {.name = "temperature",
                    .value = "X",
                    .help = "evens out (> 1) or sharpens (< 1) the choice; 0: always the most probable",
                    .fallback = text_of(sampling.temperature)},
                   {.name = "seed", .value = "N", .help = "seed of every draw", .fallback = text_of(sampling.seed)}}},
                 {"What to look at",
                  {{.name = "layer", .value = "N", .help = "this layer only; the first is 0"},
                   {.name = "head", .value = "N", .help = "this head only; the first is 0"},
                   {.name = "path",
                    .value = "PATH",
                    .help = "an activation by its path, * for any characters in it",
                    .repeats = true},
                   {.name = "list", .help = "name all activations and their shapes"},
                   checkpoint_option()}},
                 {"Files",
                  {{.name = "npz", .value = "FILE", .help = "write arrays for NumPy", .completes = Completes::file},
                   {.name = "csv", .value = "FILE", .help = "write a table", .completes = Completes::file},
                   {.name = "html",
                    .value = "FILE",
                    .help = "write one page that shows every map in a browser, offline",
                    .completes = Completes::file}}},
                 {"Looks", look_options()}},
      .examples = {{"dikkat inspect runs/first --text \"Damlaya damlaya\"", "its heads on a text"},
                   {"dikkat inspect runs/first --layer 1 --head 2 --generate 20", "one head, the model writing on"},
                   {"dikkat inspect runs/first --html maps.html", "every map, to look at in a browser"},
                   {"dikkat inspect runs/first --path 'blocks.*.residual_mid'", "other activations"},
                   {"dikkat inspect runs/first --file text.txt --last 64 --npz maps.npz", "the maps for NumPy"}},
      .run = run_inspect};
}

}  // namespace dikkat::cli
