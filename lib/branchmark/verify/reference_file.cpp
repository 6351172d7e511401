#include "branchmark/verify/reference_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

constexpr std::string_view kIdsSuffix = ".input_ids";

std::vector<std::int32_t> integers(const Tensor& tensor, const std::string& name) {
  std::vector<std::int32_t> values(tensor.data.size() / sizeof(std::int64_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t value = 0;
    std::memcpy(&value, tensor.data.data() + i * sizeof value, sizeof value);
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
      throw Error(
          ErrorCode::usage,
          fmt::format("reference tensor {}: value {} at index {} is no token or position", name, value, i));
    values[i] = static_cast<std::int32_t>(value);
  }
  return values;
}

std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

}  // namespace

ReferenceFile::ReferenceFile(const std::filesystem::path& file) : file_(file) {
  for (const auto& name : file_.names())
    if (name.ends_with(kIdsSuffix)) cases_.push_back(name.substr(0, name.size() - kIdsSuffix.size()));
  if (cases_.empty())
    throw Error(ErrorCode::usage,
                fmt::format("reference {}: no case in it; expected tensors named CASE.input_ids and "
                            "CASE.last_hidden",
                            file.string()));
}

ReferenceCase ReferenceFile::read(const std::string& name, std::int64_t hidden,
                                  std::int64_t num_layers) const {
  ReferenceCase found{.name = name, .prompt = {}, .streams = {}, .last_hidden = {}};
  const auto ids = name + std::string(kIdsSuffix);
  const auto& tokens = file_.at(ids);
  if (tokens.type != TensorType::i64 || tokens.shape.size() != 1 || tokens.shape[0] == 0)
    throw Error(ErrorCode::usage, fmt::format("reference tensor {}: expected one row of i64 token ids", ids));
  found.prompt.tokens = integers(tokens, ids);
  const auto length = tokens.shape[0];
  if (const auto positions = name + ".position_ids"; file_.contains(positions)) {
    const auto& tensor = file_.at(positions);
    if (tensor.type != TensorType::i64 || tensor.shape.size() != 2 || tensor.shape[1] != length ||
        (tensor.shape[0] != 3 && tensor.shape[0] != 4))
      throw Error(ErrorCode::usage,
                  fmt::format("reference tensor {}: expected i64 [3 or 4, {}] positions", positions, length));
    const auto values = integers(tensor, positions);
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto begin = values.begin() + (tensor.shape[0] - 3 + row) * length;
      found.prompt.positions.rows[static_cast<std::size_t>(row)].assign(begin, begin + length);
    }
  }
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    const auto stream = fmt::format("{}.stream_{}", name, layer);
    if (!file_.contains(stream)) break;
    found.streams.push_back(floats(file_.at(stream, TensorType::f32, {length, hidden})));
  }
  found.last_hidden = floats(file_.at(name + ".last_hidden", TensorType::f32, {length, hidden}));
  return found;
}

}  // namespace branchmark
