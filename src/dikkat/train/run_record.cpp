#include "dikkat/train/run_record.h"

#include <utility>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/hash.h"
#include "dikkat/base/json.h"

namespace dikkat::train {
namespace {

constexpr const char* kFormat = "dikkat run";
constexpr const char* kChecksum = "xxh3_128";

// The checksum is of the object without it, on one line: spacing may change, values may not.
Json sealed(Json object) {
  const std::string sum = xxh3_128_hex(text_of(object));
  return std::move(object.set(kChecksum, sum));
}

void check_seal(const JsonAt& root, const std::string& file) {
  Json bare = Json::object();
  for (const JsonMember& member : root.value().members()) {
    if (member.key != kChecksum) bare.append(member.key, member.value);
  }
  if (root[kChecksum].string() != xxh3_128_hex(text_of(bare))) {
    throw Error(ErrorKind::malformed, "content differs from its checksum", {.file = file});
  }
}

Json sources_json(const std::vector<DataSource>& sources) {
  Json list = Json::array();
  for (const DataSource& text : sources) {
    Json item = Json::object();
    item.set("path", text.path).set("bytes", text.bytes).set("copy", text.copy);
    list.push(std::move(item));
  }
  return list;
}

// A copy is a name in RUN, never a path.
std::string copy_name(const JsonAt& at) {
  const std::string& name = at.string();
  if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name == "..") {
    at.refuse("the name of a copy must be a file name");
  }
  return name;
}

std::vector<DataSource> sources_from(const JsonAt& at) {
  std::vector<DataSource> sources;
  for (const JsonAt& item : at.items()) {
    item.allow_only({"path", "bytes", "copy"});
    sources.push_back({.path = item["path"].string(), .bytes = item["bytes"].count(), .copy = copy_name(item["copy"])});
  }
  return sources;
}

void check_header(const JsonAt& root, const std::string& file) {
  if (root.value().kind() != Json::Kind::object || !root.has("format") || root["format"].string() != kFormat) {
    throw Error(ErrorKind::malformed, "not the record of a run", {.file = file});
  }
  check_seal(root, file);
  const std::uint64_t found = root["version"].count();
  if (found == kRunVersion) return;
  throw Error(
      ErrorKind::incompatible,
      "run of format version " + std::to_string(found) + "; this program reads version " + std::to_string(kRunVersion),
      {.file = file, .hint = "use the version of dikkat that made it"});
}

}  // namespace

std::string record_text(const RunRecord& record) {
  Json json = Json::object();
  json.set("format", kFormat);
  json.set("version", kRunVersion);
  json.set("program", record.program);
  json.set("model", to_json(record.model));
  json.set("settings", to_json(record.settings));
  json.set("conduct", to_json(record.conduct));
  json.set("coding_fingerprint", record.coding_fingerprint);
  json.set("sources", sources_json(record.sources));
  json.set("data_fingerprint", record.data_fingerprint);
  // Through text, so that what is summed is what a reader will see (bytes that are not UTF-8 are replaced in text).
  return text_of(sealed(parse_json(text_of(json), "run.json")), JsonLayout::indented);
}

namespace {

RunRecord parsed(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonAt root(json, file);
  check_header(root, file);
  root.allow_only({"format", "version", "program", "model", "settings", "conduct", "coding_fingerprint", "sources",
                   "data_fingerprint", kChecksum});
  return {.program = root["program"].string(),
          .model = from_json<models::Config>(root["model"]),
          .settings = from_json<Settings>(root["settings"]),
          .conduct = from_json<Conduct>(root["conduct"]),
          .coding_fingerprint = root["coding_fingerprint"].string(),
          .sources = sources_from(root["sources"]),
          .data_fingerprint = root["data_fingerprint"].string()};
}

}  // namespace

RunRecord record_from(std::string_view text, const std::string& file) {
  try {
    return parsed(text, file);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::malformed) throw;
    ErrorPlace place = error.place();
    place.hint = "it was damaged or edited; restore it from a copy";
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

}  // namespace dikkat::train
