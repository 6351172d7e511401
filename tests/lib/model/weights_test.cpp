#include "branchmark/model/weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/tensor_list.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

using test::StoredTensor;

std::shared_ptr<Context> open_context() {
  return Context::open(KernelLibrary::load(BRANCHMARK_CPU_MODULE), 0);
}

// The stored bytes of a device matrix's rows [first, first + count), without the padding of the rows.
std::string read_rows(Context& context, const bmk_matrix& whole, std::int64_t first, std::int64_t count) {
  const auto view = rows_of(whole, first, count);
  const auto row_bytes = static_cast<std::size_t>(view.columns * size_of(view.dtype));
  std::string bytes;
  for (std::int64_t row = 0; row < count; ++row) {
    std::string one(row_bytes, '\0');
    context.copy_to_host(one.data(), rows_of(view, row, 1).data, static_cast<std::int64_t>(row_bytes));
    context.synchronize();
    bytes += one;
  }
  return bytes;
}

std::vector<float> read_floats(Context& context, const bmk_matrix& whole, std::int64_t first,
                               std::int64_t count) {
  const auto bytes = read_rows(context, whole, first, count);
  std::vector<float> values(static_cast<std::size_t>(count * whole.columns));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (whole.dtype == BMK_F32) {
      std::memcpy(&values[i], bytes.data() + i * 4, 4);
    } else {
      std::uint16_t bits;
      std::memcpy(&bits, bytes.data() + i * 2, 2);
      values[i] = bf16_to_float(bits);
    }
  }
  return values;
}

// A small model whose parts all need padding: 3 value heads, an FFN of 20.
ModelConfig narrow_config() {
  ModelConfig config = preset("qwen3.5-smoke");
  config.name = "narrow";
  config.hidden = 16;
  config.ffn = 20;
  config.vocabulary = 10;
  config.key_heads = 1;
  config.value_heads = 3;
  config.layers = {LayerKind::gdn, LayerKind::attention};
  config.validate();
  return config;
}

// Writes a checkpoint of random bits for the config; tensors in `wide` are float32 with bits below bf16.
std::map<std::string, StoredTensor> random_tensors(const ModelConfig& config,
                                                   const std::vector<std::string>& wide) {
  std::map<std::string, StoredTensor> tensors;
  for (const auto& stack : tensor_stacks(config)) {
    for (const auto& part : stack.parts) {
      Random random(7, part.name);
      const bool is_wide = std::find(wide.begin(), wide.end(), part.name) != wide.end();
      std::string bytes;
      for (std::int64_t i = 0; i < part.rows * stack.columns; ++i) {
        const float value = random.normal();
        bytes +=
            is_wide ? test::bytes_of<float>({value}) : test::bytes_of<std::uint16_t>({float_to_bf16(value)});
      }
      tensors[part.name] = {"model." + part.name, is_wide ? "F32" : "BF16", part.shape, std::move(bytes)};
    }
  }
  return tensors;
}

void write(const test::Folder& folder, const std::map<std::string, StoredTensor>& tensors) {
  std::vector<StoredTensor> list;
  // One byte in front puts every tensor at an odd address.
  list.push_back({"odd", "U8", {1}, "x"});
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  folder.write("model.safetensors", test::safetensors_text(list));
}

std::string widened(const StoredTensor& tensor) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < tensor.bytes.size(); i += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, tensor.bytes.data() + i, 2);
    bytes += test::bytes_of<float>({bf16_to_float(bits)});
  }
  return bytes;
}

TEST(Weights, LoadsARealCheckpoint) {
  const auto context = open_context();
  const auto config = read_config(test::kMini);
  const Checkpoint checkpoint(test::kMini);
  auto weights = load_weights(context, config, checkpoint);
  ASSERT_EQ(weights.layers.size(), 4u);
  for (const auto& stack : tensor_stacks(config)) {
    for (const auto& part : stack.parts) {
      const auto& tensor = checkpoint.at(part.name);
      const std::string stored(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
      EXPECT_EQ(read_rows(*context, stack.slot(weights), part.first_row, part.rows), stored) << part.name;
    }
  }
  EXPECT_EQ(weights.layers[0].a_log.dtype, BMK_F32);
  EXPECT_EQ(weights.layers[0].gdn_norm.dtype, BMK_BF16);
  EXPECT_EQ(weights.layers[0].conv.rows, 512);
  EXPECT_EQ(weights.layers[0].conv.columns, 4);
  EXPECT_EQ(weights.layers[0].conv.row_stride, 4);
  EXPECT_EQ(weights.layers[3].conv.data, nullptr);
  EXPECT_EQ(weights.digest, load_weights(context, config, checkpoint).digest);
  EXPECT_NE(weights.digest, load_weights(context, with_layers(config, 3), checkpoint).digest);
}

TEST(Weights, PaddingIsZeroAndMixedStacksAreWidened) {
  const auto context = open_context();
  const auto config = narrow_config();
  const test::Folder folder;
  const auto tensors = random_tensors(config, {"layers.0.linear_attn.in_proj_b.weight"});
  write(folder, tensors);
  auto weights = load_weights(context, config, Checkpoint(folder.path()));
  for (const auto& stack : tensor_stacks(config)) {
    const auto& whole = stack.slot(weights);
    // Rows with their padding, to see that nothing but the parts is set.
    auto padded = whole;
    padded.columns = padded.row_stride;
    const auto found = read_floats(*context, padded, 0, padded.rows);
    std::vector<float> expected(found.size(), 0.0f);
    for (const auto& part : stack.parts) {
      const auto& tensor = tensors.at(part.name);
      const auto bytes = tensor.type == "F32" ? tensor.bytes : widened(tensor);
      for (std::int64_t i = 0; i < part.rows * stack.columns; ++i)
        std::memcpy(&expected[static_cast<std::size_t>(
                        (part.first_row + i / stack.columns) * padded.row_stride + i % stack.columns)],
                    bytes.data() + i * 4, 4);
    }
    EXPECT_EQ(found, expected) << stack.parts.front().name;
  }
  EXPECT_EQ(weights.layers[0].mixer_input.dtype, BMK_F32);
  EXPECT_EQ(weights.layers[0].mixer_input.rows, config.gdn_input_width());
  EXPECT_EQ(weights.layers[1].mixer_input.dtype, BMK_BF16);
  EXPECT_EQ(weights.layers[0].down.columns, 20);
  EXPECT_EQ(weights.layers[0].down.row_stride, 24);
  EXPECT_EQ(weights.layers[0].gate_up.rows, 48);
}

TEST(Weights, K22Float32VectorsStayFloat32) {
  const auto context = open_context();
  const auto config = narrow_config();
  const test::Folder folder;
  const std::vector<std::string> wide = {"layers.0.linear_attn.A_log", "layers.0.linear_attn.dt_bias",
                                         "layers.0.linear_attn.norm.weight",
                                         "layers.0.input_layernorm.weight"};
  const auto tensors = random_tensors(config, wide);
  write(folder, tensors);
  const auto weights = load_weights(context, config, Checkpoint(folder.path()));
  const auto& layer = weights.layers[0];
  const bmk_matrix found[] = {layer.a_log, layer.dt_bias, layer.gdn_norm, layer.input_norm};
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(found[i].dtype, BMK_F32) << wide[i];
    EXPECT_EQ(read_rows(*context, found[i], 0, 1), tensors.at(wide[i]).bytes) << wide[i];
    for (const float value : read_floats(*context, found[i], 0, 1))
      EXPECT_NE(value, bf16_to_float(float_to_bf16(value))) << wide[i];
  }
  EXPECT_EQ(layer.post_norm.dtype, BMK_BF16);
}

TEST(Weights, WrongTensorsAreRefusedBeforeTheDeviceIsTouched) {
  const auto context = open_context();
  const auto config = narrow_config();
  const test::Folder folder;
  const auto good = random_tensors(config, {});
  const auto refused = [&](const std::map<std::string, StoredTensor>& tensors,
                           const std::vector<std::string>& said) {
    write(folder, tensors);
    const Checkpoint checkpoint(folder.path());
    const auto calls = context->counters().calls;
    test::expect_error(ErrorCode::usage, said, [&] { load_weights(context, config, checkpoint); });
    EXPECT_EQ(context->counters().calls, calls);
    EXPECT_EQ(context->counters().live_buffers, 0);
  };
  const std::string name = "layers.1.self_attn.o_proj.weight";
  auto tensors = good;
  tensors.erase(name);
  refused(tensors, {name, "missing"});
  tensors = good;
  tensors[name].shape = {512, 16};
  refused(tensors, {name, "[512, 16]", "[16, 512]"});
  for (const char* type : {"F16", "I16", "I64"}) {
    tensors = good;
    tensors[name].type = type;
    if (type == std::string("I64")) tensors[name].bytes.resize(16 * 512 * 8);
    refused(tensors, {name, type, "BF16"});
  }
  tensors = good;
  tensors["layers.0.linear_attn.conv1d.weight"].shape = {640, 4};
  refused(tensors, {"conv1d", "[640, 4]", "[640, 1, 4]"});
}

TEST(Weights, DigestFollowsTheBytes) {
  const auto context = open_context();
  const auto config = narrow_config();
  const test::Folder folder;
  auto tensors = random_tensors(config, {});
  write(folder, tensors);
  const auto first = load_weights(context, config, Checkpoint(folder.path())).digest;
  // Two words of one tensor change places: the sum must see where a word stands.
  auto& bytes = tensors["layers.0.mlp.down_proj.weight"].bytes;
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 16);
  write(folder, tensors);
  EXPECT_NE(load_weights(context, config, Checkpoint(folder.path())).digest, first);
}

// The element that the ABI defines for (key, index, exponent, mean).
float synthetic(std::uint64_t key, std::uint64_t index, int exponent, float mean) {
  const auto z = random_bits(key, index);
  const auto s =
      static_cast<std::int64_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
  return mean + std::ldexp(static_cast<float>(s - 131070), exponent);
}

TEST(SyntheticWeights, ValuesDependOnSeedNameAndIndexOnly) {
  const auto context = open_context();
  const auto config = narrow_config();
  const auto weights = make_synthetic_weights(context, config, 5);
  const auto& layer = weights.layers[0];
  const auto expect = [&](const bmk_matrix& whole, std::int64_t first, std::int64_t rows, const char* name,
                          int exponent, float mean) {
    const auto found = read_floats(*context, whole, first, rows);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float exact = synthetic(random_key(5, name), i, exponent, mean);
      const float stored = whole.dtype == BMK_F32 ? exact : bf16_to_float(float_to_bf16(exact));
      ASSERT_EQ(found[i], stored) << name << " element " << i;
    }
  };
  // K = 16: 2^-2 asks for 37,837 · 2^-17 = 0.29.
  expect(layer.mixer_input, config.gdn_b_column(), 3, "layers.0.linear_attn.in_proj_b.weight", -16, 0);
  expect(layer.mixer_input, config.gdn_a_column(), 3, "layers.0.linear_attn.in_proj_a.weight", -17, 0);
  expect(layer.gate_up, config.ffn_up_column(), 20, "layers.0.mlp.up_proj.weight", -17, 0);
  expect(layer.conv, 0, config.conv_channels(), "layers.0.linear_attn.conv1d.weight", -16, 0);
  expect(layer.gdn_norm, 0, 1, "layers.0.linear_attn.norm.weight", -18, 1);
  EXPECT_EQ(layer.gdn_norm.dtype, BMK_F32);

  // Rows between the parts, and columns past the true K, are zero.
  for (const float value : read_floats(*context, layer.mixer_input, config.gdn_b_column() + 3, 5))
    EXPECT_EQ(value, 0);
  const auto tail = read_floats(*context, columns_of(layer.down, 16, 8), 0, 1);
  EXPECT_NE(tail[3], 0);
  EXPECT_EQ(std::vector(tail.begin() + 4, tail.end()), std::vector<float>(4, 0.0f));
}

TEST(SyntheticWeights, ScalesDecaysAndGates) {
  const auto context = open_context();
  const auto& config = preset("qwen3.5-smoke");
  const auto weights = make_synthetic_weights(context, config, 1);
  const auto deviation = [&](const bmk_matrix& whole, std::int64_t first, std::int64_t rows) {
    double squares = 0;
    const auto found = read_floats(*context, whole, first, rows);
    for (const float value : found) squares += static_cast<double>(value) * value;
    return std::sqrt(squares / static_cast<double>(found.size()));
  };
  const auto near = [](double found, double wanted) {
    EXPECT_LT(found, wanted * 1.45);
    EXPECT_GT(found, wanted / 1.45);
  };
  const auto& gdn = weights.layers[0];
  near(deviation(weights.embedding, 0, config.vocabulary), 1);
  near(deviation(gdn.mixer_input, 0, config.conv_channels()), 1 / std::sqrt(256.0));
  near(deviation(gdn.mixer_output, 0, 256), 0.25 / std::sqrt(512.0));
  near(deviation(gdn.down, 0, 256), 0.25 / std::sqrt(512.0));
  near(deviation(gdn.input_norm, 0, 1), 0.125);
  near(deviation(weights.layers[3].mixer_input, 0, config.attention_input_width()), 1 / std::sqrt(256.0));

  bool below_bf16 = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto seeded = make_synthetic_weights(context, with_layers(config, 1), seed);
    for (const float value : read_floats(*context, seeded.layers[0].a_log, 0, 1)) {
      EXPECT_GE(value, -4);
      EXPECT_LT(value, 2.8f);
      below_bf16 = below_bf16 || value != bf16_to_float(float_to_bf16(value));
    }
    for (const float value : read_floats(*context, seeded.layers[0].dt_bias, 0, 1)) {
      EXPECT_GE(value, -6);
      EXPECT_LT(value, 1);
    }
  }
  EXPECT_TRUE(below_bf16);
}

TEST(SyntheticWeights, BytesDigestAndFewerLayers) {
  const auto context = open_context();
  const auto& config = preset("qwen3.5-smoke");
  const auto before = context->counters().live_bytes;
  const auto weights = make_synthetic_weights(context, config, 1);
  EXPECT_EQ(context->counters().live_bytes - before, weights_bytes(config));
  EXPECT_EQ(make_synthetic_weights(context, config, 1).digest, weights.digest);
  EXPECT_NE(make_synthetic_weights(context, config, 2).digest, weights.digest);
  const auto fewer = make_synthetic_weights(context, with_layers(config, 2), 1);
  EXPECT_NE(fewer.digest, weights.digest);
  EXPECT_EQ(read_rows(*context, fewer.layers[1].down, 0, 256),
            read_rows(*context, weights.layers[1].down, 0, 256));
}

TEST(Weights, BytesOfThePresets) {
  // The parameters of the text backbone without its head, two bytes each.
  EXPECT_NEAR(static_cast<double>(weights_bytes(preset("qwen3.5-4b"))) * 1e-9, 8.4, 0.2);
  EXPECT_NEAR(static_cast<double>(weights_bytes(preset("qwen3.5-27b"))) * 1e-9, 51.2, 1.5);
}

}  // namespace
}  // namespace branchmark
