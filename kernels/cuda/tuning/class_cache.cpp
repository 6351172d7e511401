#include "class_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace branchmark::cuda {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "branchmark-class-cache";
constexpr int kVersion = 1;

Json to_json(const ClassEntry& entry) {
  Json algorithms = Json::array();
  for (std::size_t i = 0; i < entry.fingerprints.size(); ++i)
    algorithms.push_back(
        {{"fingerprint", entry.fingerprints[i]}, {"member", static_cast<bool>(entry.is_member[i])}});
  Json table = Json::array();
  for (const RowEntry& row : entry.table) table.push_back({{"rows", row.rows}, {"algorithm", row.algorithm}});
  return {{"device_name", entry.key.device_name},
          {"device_uuid", entry.key.device_uuid},
          {"driver_version", entry.key.driver_version},
          {"blas_version", entry.key.blas_version},
          {"n", entry.key.n},
          {"k", entry.key.k},
          {"x_stride", entry.key.x_stride},
          {"w_stride", entry.key.w_stride},
          {"y_stride", entry.key.y_stride},
          {"class_digest", entry.class_digest},
          {"algorithms", algorithms},
          {"table", table}};
}

// Throws what the JSON library throws for a missing key or another type.
ClassEntry from_json(const Json& json) {
  ClassEntry entry;
  entry.key = {json.at("device_name").get<std::string>(),
               json.at("device_uuid").get<std::string>(),
               json.at("driver_version").get<std::string>(),
               json.at("blas_version").get<std::string>(),
               json.at("n").get<std::int64_t>(),
               json.at("k").get<std::int64_t>(),
               json.at("x_stride").get<std::int64_t>(),
               json.at("w_stride").get<std::int64_t>(),
               json.at("y_stride").get<std::int64_t>()};
  entry.class_digest = json.at("class_digest").get<std::string>();
  for (const Json& algorithm : json.at("algorithms")) {
    entry.fingerprints.push_back(algorithm.at("fingerprint").get<std::string>());
    entry.is_member.push_back(algorithm.at("member").get<bool>());
  }
  for (const Json& row : json.at("table"))
    insert_entry(entry.table, {row.at("rows").get<std::int64_t>(), row.at("algorithm").get<std::int64_t>()});
  return entry;
}

bool is_whole(const ClassEntry& entry) {
  if (entry.fingerprints.empty() || !entry.is_member.front() || entry.table.empty()) return false;
  return std::all_of(entry.table.begin(), entry.table.end(), [&](const RowEntry& row) {
    const auto count = static_cast<std::int64_t>(entry.fingerprints.size());
    return row.rows >= 1 && row.algorithm >= 0 && row.algorithm < count &&
           entry.is_member[static_cast<std::size_t>(row.algorithm)];
  });
}

std::string system_reason(const std::string& what) {
  return what + ": " + std::strerror(errno);
}

// Writes the text beside `path` and renames it. Empty on success, else the reason.
std::string replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text << std::flush;
    if (!file) {
      const std::string reason = system_reason("cannot write " + temporary);
      std::remove(temporary.c_str());
      return reason;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return "";
  const std::string reason = system_reason("cannot rename " + temporary + " to " + path);
  std::remove(temporary.c_str());
  return reason;
}

}  // namespace

std::string format_class_cache(const std::vector<ClassEntry>& entries) {
  Json list = Json::array();
  for (const ClassEntry& entry : entries) list.push_back(to_json(entry));
  return Json{{"format", kFormat}, {"version", kVersion}, {"entries", list}}.dump(1) + "\n";
}

std::vector<ClassEntry> parse_class_cache(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != kFormat ||
      json.value("version", Json()) != kVersion)
    return {};
  std::vector<ClassEntry> entries;
  for (const Json& item : json.value("entries", Json::array())) {
    try {
      ClassEntry entry = from_json(item);
      if (is_whole(entry)) entries.push_back(std::move(entry));
    } catch (const Json::exception&) {
      continue;
    }
  }
  return entries;
}

void merge_entry(std::vector<ClassEntry>& entries, ClassEntry entry) {
  const auto same = std::find_if(entries.begin(), entries.end(),
                                 [&](const ClassEntry& candidate) { return candidate.key == entry.key; });
  if (same == entries.end())
    entries.push_back(std::move(entry));
  else
    *same = std::move(entry);
}

const ClassEntry* find_entry(const std::vector<ClassEntry>& entries, const ClassKey& key) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const ClassEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<ClassEntry> read_class_cache(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? parse_class_cache(text.str()) : std::vector<ClassEntry>{};
}

std::string update_class_cache(const std::string& path, const ClassEntry& entry) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return "cannot make " + folder.string() + ": " + error.message();
  std::vector<ClassEntry> entries = read_class_cache(path);
  merge_entry(entries, entry);
  return replace_file(path, format_class_cache(entries));
}

}  // namespace branchmark::cuda
