#include "branchmark/model/checkpoint.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json_view.hpp"
#include "branchmark/model/input_file.hpp"

namespace branchmark {
namespace {

constexpr std::uint64_t kMaxIndexBytes = 16 << 20;
constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr const char* kPrefixes[] = {"model.language_model.", "model.", ""};

// A shard is a file of the checkpoint's own folder: no separators, no "..", nothing hidden behind a NUL.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// Tensor name -> shard file name.
std::map<std::string, std::string> read_index(const std::filesystem::path& file) {
  const auto document = parse_json(read_input(file, kMaxIndexBytes), file.string());
  const auto weights = JsonView(document, file.string()).at("weight_map");
  std::map<std::string, std::string> shard_of;
  for (const auto& name : weights.keys()) {
    const auto shard = weights.at(name);
    if (!is_plain_file_name(shard.string())) shard.refuse("the name of a file in the checkpoint's folder");
    shard_of.emplace(name, shard.string());
  }
  if (shard_of.empty()) weights.refuse("at least one tensor");
  return shard_of;
}

}  // namespace

Checkpoint::Checkpoint(const std::filesystem::path& folder) : folder_(folder) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::usage, fmt::format("checkpoint {}: {}", folder.string(), problem));
  };
  const auto exists = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  if (!exists(folder)) refuse("no such folder");
  if (exists(folder / kSingleFile)) {
    files_.emplace_back(folder / kSingleFile);
    for (const auto& name : files_.front().names()) file_of_.emplace(name, 0);
  } else if (exists(folder / kIndexFile)) {
    std::map<std::string, std::size_t> opened;
    for (const auto& [name, shard] : read_index(folder / kIndexFile)) {
      if (opened.count(shard) == 0) {
        if (!exists(folder / shard)) refuse(fmt::format("shard {} of tensor \"{}\" is missing", shard, name));
        opened.emplace(shard, files_.size());
        files_.emplace_back(folder / shard);
      }
      const std::size_t index = opened.at(shard);
      if (!files_[index].contains(name))
        refuse(
            fmt::format("tensor \"{}\" is listed in {}, but not in its shard {}", name, kIndexFile, shard));
      file_of_.emplace(name, index);
    }
  } else {
    refuse(fmt::format("found neither {} nor {}", kSingleFile, kIndexFile));
  }

  const auto prefix = std::find_if(std::begin(kPrefixes), std::end(kPrefixes), [&](const char* candidate) {
    return file_of_.count(std::string(candidate) + "embed_tokens.weight") != 0;
  });
  if (prefix == std::end(kPrefixes))
    refuse(
        "tensor \"embed_tokens.weight\" is missing under the prefixes \"model.language_model.\", \"model.\" "
        "and \"\"");
  prefix_ = *prefix;
}

bool Checkpoint::contains(const std::string& name_without_prefix) const {
  return file_of_.count(prefix_ + name_without_prefix) != 0;
}

const Tensor& Checkpoint::at(const std::string& name_without_prefix) const {
  const auto name = prefix_ + name_without_prefix;
  const auto found = file_of_.find(name);
  if (found == file_of_.end())
    throw Error(ErrorCode::usage,
                fmt::format("checkpoint {}: tensor \"{}\" is missing", folder_.string(), name));
  return files_[found->second].at(name);
}

}  // namespace branchmark
