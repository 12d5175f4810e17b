#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/base/size_text.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/heat_map.h"
#include "dikkat/cli/inspected_run.h"
#include "dikkat/cli/inspection.h"
#include "dikkat/cli/inspection_files.h"
#include "dikkat/cli/inspection_json.h"
#include "dikkat/cli/inspection_page.h"
#include "dikkat/cli/inspection_pass.h"
#include "dikkat/cli/inspection_view.h"
#include "dikkat/cli/new_file.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/signals.h"
#include "dikkat/inspect/capture.h"
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
  const OutputFiles files{new_file(arguments, "npz"), new_file(arguments, "csv"), new_file(arguments, "html")};
  std::set<std::string> names;
  for (const auto& [option, file] : {std::pair{"--npz", files.npz}, {"--csv", files.csv}, {"--html", files.html}}) {
    if (file && !names.insert(*file).second) {
      throw Error(ErrorKind::usage, "each file needs a name of its own",
                  {.key = option, .hint = fmt::format("choose another {}", option)});
    }
  }
  return files;
}

generate::Sampling sampling_of(const Arguments& arguments) {
  for (const char* option : {"temperature", "seed"}) {
    if (!arguments.has(option) || arguments.has("generate")) continue;
    throw Error(ErrorKind::usage, fmt::format("--{} is for what the model writes, and it is to write nothing", option),
                {.key = fmt::format("--{}", option), .hint = "give --generate N too, or leave it out"});
  }
  generate::Sampling sampling;
  sampling.temperature = arguments.value("temperature", sampling.temperature);
  sampling.seed = arguments.value("seed", sampling.seed);
  generate::check(sampling);
  return sampling;
}

std::vector<std::string> wanted_paths(const Arguments& arguments, const InspectedRun& run) {
  if (!arguments.has("path")) return {};
  std::vector<std::string> known;
  for (const auto& entry : inspect::activations(run.short_pass, 1)) known.push_back(entry.path);
  return inspect::matching(arguments.texts("path"), known);
}

// --- what is said ---

std::string headline(const InspectedRun& run, const Subject& subject) {
  std::string line = fmt::format("{}, step {}: {} layers of {} heads; {}", text::escaped(run.folder), run.step,
                                 run.model.layers, run.model.heads, subject.where);
  if (subject.generated != 0) line += fmt::format(", then {} written by the model", subject.generated);
  return line + "\n";
}

// The chosen heads small, their facts, and the most focused of them large.
std::string heads_text(const kernels::Executor& executor, const Subject& subject,
                       const std::vector<inspect::HeadSummary>& summaries,
                       const std::vector<inspect::LayerHeads>& layers, const Look& look) {
  if (summaries.empty()) return "\nThe model has no layers: there is no attention between rows to look at.\n";
  const bool several = summaries.size() > 1;
  const inspect::HeadSummary& chosen = most_focused(summaries);
  std::string out = "\n";
  if (several) {
    out +=
        "Each head as layer.head: rows look at columns, the first is at the top left.\n\n" + overview(summaries, look);
  }
  out += facts_table(summaries);
  out += "(means over all rows, in rows where they are lengths; descriptions, not tests against chance)\n";
  out += fmt::format("\nHead {}.{}{}: each row looks at the columns.\n", chosen.layer, chosen.head,
                     several ? ", the most focused (--layer and --head choose another)" : "");
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

int list_activations(const Arguments& arguments, const InspectedRun& run, Output& output) {
  const auto entries = inspect::activations(run.short_pass, run.model.context);
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
  const kernels::Executor& executor;
  const InspectedRun& run;
  const Subject& subject;
  const std::vector<std::string>& paths;  // of activations; empty: attention is looked at
  const train::StopRequest& stop;
  Output& output;

  void pass(const Sinks& sinks) const { run_pass(executor, subject, paths, sinks, stop); }
  // The pooled weights of a series come along with its heads.
  void pass_with_pooling(Sinks sinks, PoolingView& pooling) const {
    sinks.activations = {&pooling};
    run_pass(executor, subject, pooling.paths(run), sinks, stop);
  }
  [[nodiscard]] Json json() const { return subject_json(run, subject); }
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

void write_page(const Work& work, const std::string& file, std::vector<inspect::LayerHeads> heads) {
  const std::string drawn =
      fmt::format("temperature {}, seed {}", text_of(work.sampling.temperature), work.sampling.seed);
  replace_file(file, inspect::html_page(page_data(work.run, work.subject, std::move(heads), drawn), work.executor));
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
  if (files.npz) take(npz.emplace(*files.npz, work.run, work.subject));
  const auto content = work.paths.empty() ? CsvFile::Content::maps : CsvFile::Content::activations;
  if (files.csv) take(csv.emplace(*files.csv, content, work.subject));
  if (files.html) sinks.heads = &heads;
  work.pass(sinks);
  if (files.html) write_page(work, *files.html, std::move(heads));
  if (npz) npz->finish();
  if (csv) csv->finish();
  say_written(work, files);
}

void heads_as_json(const Work& work) {
  Summaries summaries(work.executor, work.subject);
  JsonMaps maps;
  Sinks sinks{.maps = {&summaries}};
  const std::size_t rows = work.subject.rows();
  const bool few = work.subject.choice.count() * rows * rows <= kMostJsonNumbers;
  if (few || work.subject.choice.given) sinks.maps.push_back(&maps);
  PoolingView pooling;
  work.pass_with_pooling(sinks, pooling);
  Json json = work.json();
  json.set("heads", heads_json(summaries.all(), maps.maps()));
  if (pooling.seen()) json.set("pooling", pooling.json());
  work.output.line(text_of(json));
}

void draw_heads(const Work& work, const Look& look) {
  Summaries summaries(work.executor, work.subject);
  std::vector<inspect::LayerHeads> heads;
  PoolingView pooling;
  work.pass_with_pooling({.maps = {&summaries}, .heads = &heads}, pooling);
  work.output.write(headline(work.run, work.subject) +
                    heads_text(work.executor, work.subject, summaries.all(), heads, look));
  if (pooling.seen()) work.output.write(pooling.text(work.subject.labels, look));
}

void show_activations(const Work& work, const Look& look) {
  const bool json = work.arguments.json();
  ActivationView view(json ? ActivationView::Values::kept : ActivationView::Values::left_out);
  work.pass({.activations = {&view}});
  if (json) {
    work.output.line(text_of(work.json().set("activations", activations_json(view))));
  } else {
    work.output.write(headline(work.run, work.subject) + activations_text(view.all(), look));
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
  const InspectedRun run = inspected_run(arguments, execution.executor());
  if (arguments.has("list")) return list_activations(arguments, run, output);
  const std::vector<std::string> paths = wanted_paths(arguments, run);
  if (files.any() && paths.empty() && run.model.layers == 0) {
    throw Error(ErrorKind::incompatible, "the model has no layers: there is no attention to write",
                {.file = run.folder, .hint = "choose activations by --path; --list names them"});
  }
  const Subject subject = run.look_at(arguments, sampling);
  const train::StopRequest& stop = stop_on_signals("dikkat: stopping\n");
  try {
    show({arguments, sampling, execution.executor(), run, subject, paths, stop, output}, files, look);
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
          "A run that learned series is shown a series in the same way: rows are its steps.\n"
          "With --path it shows other activations; --list names them all. With a file to write, nothing is drawn.\n"
          "NPZ: tokens (T), texts (T), generated (T), or the readings of a series, and the maps as "
          "blocks.I.attention.pattern (T,H,T): token, head, "
          "token looked at; of one head alone blocks.I.attention.pattern.H (T,T). With --path those activations "
          "instead.\n"
          "CSV: layer,head,query,query_token,key,key_token,weight for each key a query sees; with --path "
          "path,row,token,index,value.\n"
          "With --json it prints one object; weights of more than a million numbers in all are left out unless --layer "
          "or --head chooses.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups = {{"Text", text_options()},
                 {"Series, for a run that learned them",
                  {{.name = "series", .value = "N", .help = "series N of the run's file, or of --file; the first is 0"},
                   label_option()}},
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
