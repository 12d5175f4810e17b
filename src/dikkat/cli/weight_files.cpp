#include "dikkat/cli/weight_files.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/cli/new_file.h"
#include "dikkat/formats/text_weights.h"
#include "dikkat/models/book_layout.h"

namespace dikkat::cli {
namespace {

std::vector<Tensor> read_fitting(std::string_view text, const std::vector<Shape>& shapes, DType dtype,
                                 const std::string& path) {
  try {
    return formats::read_text_weights(text, shapes, dtype, path);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::incompatible) throw;
    ErrorPlace place = error.place();
    place.hint = "export it from a run with the same settings, or name another --like";
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

}  // namespace

Option weight_format_option() {
  return {.name = "format", .value = "FORMAT", .help = "format of the file", .fallback = "text", .choices = {"text"}};
}

WeightFormat weight_format(const Arguments& arguments) {
  static_cast<void>(arguments.choice("format"));
  return WeightFormat::text;
}

std::string new_path(const Arguments& arguments, const std::string& what) {
  const std::optional<std::string> out = arguments.text("out");
  if (!out || out->empty()) {
    throw Error(ErrorKind::usage, "where should it go?",
                {.key = "--out", .hint = "add --out and the name of " + what + " to be made"});
  }
  refuse_existing(*out, "--out");
  return *out;
}

std::string exported(const models::LanguageModel& model, WeightFormat) {
  std::vector<formats::NamedTensor> tensors;
  for (models::BookTensor& tensor : models::book_layout(model)) tensors.push_back({tensor.name, tensor.value.clone()});
  std::string content;
  formats::write_text_weights(tensors, [&](std::span<const std::byte> bytes) {
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return content;
}

void import_into(const models::LanguageModel& model, const std::string& path, WeightFormat) {
  const std::vector<models::BookTensor> places = models::book_layout(model);
  std::vector<Shape> shapes;
  for (const models::BookTensor& place : places) shapes.push_back(place.value.shape());
  const MappedFile file{std::filesystem::path(path)};
  const std::vector<Tensor> read = read_fitting(file.text(), shapes, model.parameters().dtype(), path);
  for (std::size_t i = 0; i < places.size(); ++i) places[i].value.assign(read[i]);
}

}  // namespace dikkat::cli
