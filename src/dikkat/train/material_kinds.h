// The two kinds of material; material.cpp chooses between them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/train/material.h"

namespace dikkat::train {

// The coding of a run that is there; nothing for a new run, whose coding is made from its data.
struct KnownCoding {
  std::string json;
  std::string file;
  std::string data_fingerprint;
};

// Error{incompatible} unless the data has the fingerprint the run was begun with.
void require_same_data(const std::optional<KnownCoding>& known, const std::string& fingerprint,
                       const std::string& name);
// Files by their absolute paths, standard input by the copy of it in the run.
[[nodiscard]] DataSource source_of(const std::filesystem::path& path, std::size_t bytes, const std::string& copy);

[[nodiscard]] std::unique_ptr<Material> read_text(const std::vector<std::filesystem::path>& paths, const RunSpec& spec,
                                                  const std::optional<KnownCoding>& known);
[[nodiscard]] std::unique_ptr<Material> read_series_table(const std::vector<std::filesystem::path>& paths,
                                                          const RunSpec& spec, const std::optional<KnownCoding>& known);

}  // namespace dikkat::train
