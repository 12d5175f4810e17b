#include "dikkat/train/material.h"

#include "dikkat/base/error.h"
#include "dikkat/train/material_kinds.h"

namespace dikkat::train {
namespace {

std::unique_ptr<Material> read_kind(const std::vector<std::filesystem::path>& paths, const RunSpec& spec,
                                    const std::optional<KnownCoding>& known) {
  return spec.model.task == models::Task::next_token ? read_text(paths, spec, known)
                                                     : read_series_table(paths, spec, known);
}

}  // namespace

void require_same_data(const std::optional<KnownCoding>& known, const std::string& fingerprint,
                       const std::string& name) {
  if (!known || known->data_fingerprint == fingerprint) return;
  throw Error(ErrorKind::incompatible, "the data is not what the run was begun with",
              {.file = name, .hint = "give the data as it was, or begin a new run"});
}

DataSource source_of(const std::filesystem::path& path, std::size_t bytes, const std::string& copy) {
  if (path == "-") return {.path = "-", .bytes = bytes, .copy = copy};
  return {.path = std::filesystem::absolute(path).string(), .bytes = bytes, .copy = {}};
}

std::unique_ptr<Material> read_material(const std::vector<std::filesystem::path>& paths, const RunSpec& spec) {
  return read_kind(paths, spec, std::nullopt);
}

std::unique_ptr<Material> read_material(const std::vector<std::filesystem::path>& paths, const RunSpec& spec,
                                        const RunFolder& folder) {
  const KnownCoding known{.json = folder.coding_json(),
                          .file = folder.coding_path().string(),
                          .data_fingerprint = folder.record().data_fingerprint};
  if (!paths.empty()) return read_kind(paths, spec, known);
  try {
    return read_kind(folder.data_paths(), spec, known);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    ErrorPlace place = error.place();
    place.hint = "name it where it is now: dikkat train FILE --out " + folder.path().string() + " --resume";
    throw Error(ErrorKind::io, "the run's data cannot be read: " + error.message(), place);
  }
}

}  // namespace dikkat::train
