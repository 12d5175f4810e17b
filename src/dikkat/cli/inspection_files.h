// What dikkat inspect writes for other programs: .npz, .csv and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/inspected_run.h"
#include "dikkat/formats/npz.h"

namespace dikkat::cli {

// FILE.npz: tokens (T) i32, texts (T), generated (T) bool of a text, readings (steps, channels) f64 of a series; the
// maps as blocks.I.attention.pattern (T,H,T), a single chosen head as blocks.I.attention.pattern.H (T,T); activations
// by their paths.
class NpzFile final : public MapSink, public ActivationSink {
 public:
  NpzFile(const std::string& path, const InspectedRun& run, const Subject& subject);

  void begin_layer(std::size_t layer) override;
  void take(const inspect::MapRows& rows) override;
  void end_layer() override;
  void take(const std::string& path, const Tensor& activation) override;
  void finish() { npz_.finish(); }

 private:
  const Subject& subject_;
  formats::NpyNumber number_;  // of the model
  std::size_t heads_;          // of the model
  formats::NpzWriter npz_;
};

// FILE.csv, RFC 4180 with line feeds. Of maps, one line for each key that a query sees:
//   layer,head,query,query_token,key,key_token,weight
// Of activations, one for each number: path,row,token,index,value; no token
// where rows are not those of the text. Tokens as they are, broken UTF-8 escaped.
class CsvFile final : public MapSink, public ActivationSink {
 public:
  enum class Content : std::uint8_t { maps, activations };
  CsvFile(const std::string& path, Content content, const Subject& subject);

  void take(const inspect::MapRows& rows) override;
  void take(const std::string& path, const Tensor& activation) override;
  void finish();

 private:
  void add(std::string_view text);

  const Subject& subject_;
  FileReplacement file_;
  std::string pending_;
  std::vector<std::string> tokens_;  // as fields
};
// The weights of one head after the other, each as a list of rows.
class JsonMaps final : public MapSink {
 public:
  void begin_layer(std::size_t layer) override;
  void take(const inspect::MapRows& rows) override;
  void end_layer() override;
  // In the order of the layers, head by head.
  [[nodiscard]] std::vector<Json>& maps() { return maps_; }

 private:
  std::vector<Json> layer_;
  std::vector<Json> maps_;
};

// A number as it would be written, null where it is not finite.
[[nodiscard]] Json json_number(const Tensor& contiguous, std::size_t index);

}  // namespace dikkat::cli
