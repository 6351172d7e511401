// Checkpoints that nobody recorded: of other sizes than the fixtures, written here, and compared with float64
// mathematics of the test's own (mathematics.cpp). Nothing may be tuned to the fixtures.

#include <gtest/gtest.h>

#include <cmath>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/model.hpp"
#include "lib/model/folder.hpp"
#include "lib/verify/mathematics.hpp"

namespace branchmark {
namespace {

struct GdnHeads {
  std::int64_t key;
  std::int64_t value;
};

void PrintTo(const GdnHeads& heads, std::ostream* out) {
  *out << heads.key << " key, " << heads.value << " value heads";
}

// More layers than the fixtures; GQA 2:1; theta 5e5; eps 1e-5; untied; an FFN of 100 and few value heads,
// neither a multiple of 8; older spellings in config.json.
class OtherCheckpoint {
 public:
  explicit OtherCheckpoint(const GdnHeads& heads) {
    constexpr std::int64_t kHidden = 48, kFfn = 100, kVocabulary = 90, kNumLayers = 9;
    constexpr std::int64_t kQueryHeads = 4, kKvHeads = 2;
    const auto channels = 128 * (2 * heads.key + heads.value);
    add("embed_tokens.weight", {kVocabulary, kHidden}, 0.05);  // small, so that eps counts
    add("norm.weight", {kHidden}, 0.15);
    for (std::int64_t i = 0; i < kNumLayers; ++i) {
      layer_ = "layers." + std::to_string(i) + ".";
      add("input_layernorm.weight", {kHidden}, 0.15);
      add("post_attention_layernorm.weight", {kHidden}, 0.15);
      projection("mlp.gate_proj.weight", kFfn, kHidden);
      projection("mlp.up_proj.weight", kFfn, kHidden);
      projection("mlp.down_proj.weight", kHidden, kFfn, 0.05);
      if ((i + 1) % 4 == 0) {
        projection("self_attn.q_proj.weight", 512 * kQueryHeads, kHidden);
        projection("self_attn.k_proj.weight", 256 * kKvHeads, kHidden);
        projection("self_attn.v_proj.weight", 256 * kKvHeads, kHidden);
        projection("self_attn.o_proj.weight", kHidden, 256 * kQueryHeads, 0.05);
        add("self_attn.q_norm.weight", {256}, 0.15);
        add("self_attn.k_norm.weight", {256}, 0.15);
      } else {
        projection("linear_attn.in_proj_qkv.weight", channels, kHidden);
        projection("linear_attn.in_proj_z.weight", 128 * heads.value, kHidden);
        projection("linear_attn.in_proj_b.weight", heads.value, kHidden, 2);
        projection("linear_attn.in_proj_a.weight", heads.value, kHidden);
        add("linear_attn.conv1d.weight", {channels, 1, 4}, 0.5);
        add("linear_attn.A_log", {heads.value}, 1.5, -1, TensorType::f32);
        add("linear_attn.dt_bias", {heads.value}, 1.5, -2);
        add("linear_attn.norm.weight", {128}, 0.15, 1, TensorType::f32);
        projection("linear_attn.out_proj.weight", kHidden, 128 * heads.value, 0.05);
      }
    }
    stored_.push_back({"lm_head.weight", "BF16", {1, 2}, std::string(4, 'x')});
    folder_.write("model.safetensors", test::safetensors_text(stored_));
    folder_.write("config.json", Json{{"model_type", "qwen3_5"},
                                      {"hidden_size", kHidden},
                                      {"intermediate_size", kFfn},
                                      {"vocab_size", kVocabulary},
                                      {"num_hidden_layers", kNumLayers},
                                      {"full_attention_interval", 4},
                                      {"num_attention_heads", kQueryHeads},
                                      {"num_key_value_heads", kKvHeads},
                                      {"linear_num_key_heads", heads.key},
                                      {"linear_num_value_heads", heads.value},
                                      {"head_dim", 256},
                                      {"linear_key_head_dim", 128},
                                      {"linear_value_head_dim", 128},
                                      {"linear_conv_kernel_dim", 4},
                                      {"hidden_act", "silu"},
                                      {"max_position_embeddings", 4096},
                                      {"rms_norm_eps", 1e-5},
                                      {"rope_theta", 5e5},
                                      {"partial_rotary_factor", 0.25},
                                      {"rope_scaling", {{"type", "default"}, {"mrope_section", {20, 6, 6}}}},
                                      {"tie_word_embeddings", false}}
                                     .dump());
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  const test::Tensors& tensors() const { return tensors_; }

 private:
  void projection(const std::string& name, std::int64_t outputs, std::int64_t inputs, double scale = 1) {
    add(name, {outputs, inputs}, scale / std::sqrt(static_cast<double>(inputs)));
  }

  void add(const std::string& name, const std::vector<std::int64_t>& shape, double scale, double mean = 0,
           TensorType type = TensorType::bf16) {
    std::int64_t count = 1;
    for (const auto extent : shape) count *= extent;
    Random random(7, layer_ + name);
    std::vector<std::uint16_t> halves;
    std::vector<float> floats;
    auto& values = tensors_[layer_ + name];
    for (std::int64_t i = 0; i < count; ++i) {
      floats.push_back(static_cast<float>(mean + scale * static_cast<double>(random.normal())));
      halves.push_back(float_to_bf16(floats.back()));
      values.push_back(
          static_cast<double>(type == TensorType::f32 ? floats.back() : bf16_to_float(halves.back())));
    }
    const bool wide = type == TensorType::f32;
    stored_.push_back({"model." + layer_ + name, wide ? "F32" : "BF16", shape,
                       wide ? test::bytes_of(floats) : test::bytes_of(halves)});
  }

  std::string layer_;
  test::Folder folder_;
  std::vector<test::StoredTensor> stored_;
  test::Tensors tensors_;
};

double distance(const std::vector<float>& found, const std::vector<double>& exact, std::size_t first = 0) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double d = static_cast<double>(found[i]) - exact[first + i];
    difference += d * d;
    norm += exact[first + i] * exact[first + i];
  }
  return std::sqrt(difference / norm);
}

Prompt random_prompt(std::int64_t tokens, bool with_positions) {
  Random random(1, "prompt");
  Prompt prompt;
  for (std::int64_t i = 0; i < tokens; ++i) {
    prompt.tokens.push_back(static_cast<std::int32_t>(random.below(90)));
    if (!with_positions) continue;
    // Text, then an image of 5 x 7 from row 20, five positions apart, then text.
    const auto at = static_cast<std::int32_t>(i);
    const bool image = at >= 20 && at < 55;
    const std::int32_t text = at < 20 ? at : 60 + at - 55;
    prompt.positions.rows[0].push_back(image ? 20 : text);
    prompt.positions.rows[1].push_back(image ? 20 + 5 * ((at - 20) / 7) : text);
    prompt.positions.rows[2].push_back(image ? 20 + 5 * ((at - 20) % 7) : text);
  }
  return prompt;
}

class OtherSizes : public testing::TestWithParam<GdnHeads> {
 protected:
  Model& model(bool reference) {
    auto& made = models_[reference ? 1 : 0];
    if (made == nullptr) {
      ModelOptions options;
      options.reference_numerics = reference;
      made = std::make_unique<Model>(context_, config_, weights_, std::move(options));
    }
    return *made;
  }
  std::vector<double> exact(const Prompt& prompt) const {
    return test::last_hidden(config_, checkpoint_.tensors(), prompt);
  }

  OtherCheckpoint checkpoint_{GetParam()};
  ModelConfig config_ = read_config(checkpoint_.path());
  std::shared_ptr<Context> context_ = Context::open(KernelLibrary::load(BRANCHMARK_CPU_MODULE), 0);
  std::shared_ptr<const Weights> weights_ =
      std::make_shared<const Weights>(load_weights(context_, config_, Checkpoint(checkpoint_.path())));
  std::unique_ptr<Model> models_[2];
};

// 1e-5 is what the fixtures ask of numerics `reference`. Default numerics: 0.018 to 0.020 was measured here
// over all rows, as the fixtures' own bf16 runs are 0.016 to 0.024 from float32.
constexpr double kReferenceBound = 1e-5;
constexpr double kDefaultBound = 2.5e-2;

TEST_P(OtherSizes, ForwardMeetsTheMathematics) {
  for (const auto& prompt : {random_prompt(64, false), random_prompt(65, false), random_prompt(96, true)}) {
    const auto rows = exact(prompt);
    const CallOptions all{.all_rows = true, .observer = nullptr};
    EXPECT_LE(distance(model(true).forward(prompt, all).values, rows), kReferenceBound);
    const auto rounded = distance(model(false).forward(prompt, all).values, rows);
    EXPECT_LE(rounded, kDefaultBound);
    EXPECT_GE(rounded, 1e-3) << "a rounding is missing";
    RecordProperty("default_" + std::to_string(prompt.tokens.size()), std::to_string(rounded));
  }
}

TEST_P(OtherSizes, FixedAndSharedMeetTheMathematicsWithOneAnothersBits) {
  const auto prompt = random_prompt(150, false);
  const auto rows = exact(prompt);
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  const auto fixed =
      model(false).forward_fixed(prompt, GemmKind::fixed, {.all_rows = true, .observer = nullptr});
  EXPECT_LE(distance(fixed.values, rows), kDefaultBound);
  // Prompts that end at several places of this one, sharing what comes before.
  std::vector<Prompt> prompts;
  for (const std::int64_t length : {3, 64, 65, 128, 140, 150}) prompts.push_back(slice(prompt, 0, length));
  std::vector<std::int64_t> order;
  const auto tree = PrefixTree::from_prompts(prompts, &order);
  EXPECT_EQ(model(false).plan(tree, {}).states_captured, 2);
  for (const auto gemm : {GemmKind::fixed, GemmKind::fastest_of_class}) {
    const auto shared = model(false).forward_shared(tree, {.gemm = gemm});
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const auto last = prompts[static_cast<std::size_t>(order[i])].tokens.size() - 1;
      const auto begin = fixed.values.begin() + static_cast<std::ptrdiff_t>(last * hidden);
      EXPECT_EQ(shared[i].values, std::vector<float>(begin, begin + config_.hidden)) << last;
      // One row is worse conditioned than the sum over all.
      EXPECT_LE(distance(shared[i].values, rows, last * hidden), 2 * kDefaultBound) << last;
    }
  }
}

// The mathematics must be able to tell: the same prompt with two tokens exchanged, an epsilon, a frequency
// and a key head that are the fixtures' and not this checkpoint's.
TEST_P(OtherSizes, TheMathematicsTellsOtherInputsAndConstantsApart) {
  const auto prompt = random_prompt(70, false);
  const auto found = model(true).forward(prompt, {.all_rows = true, .observer = nullptr}).values;
  auto exchanged = prompt;
  std::swap(exchanged.tokens[0], exchanged.tokens[1]);
  EXPECT_GT(distance(found, exact(exchanged)), 1e-3);
  auto config = config_;
  config.rope_theta = 1e7;
  EXPECT_GT(distance(found, test::last_hidden(config, checkpoint_.tensors(), prompt)), 1e-4);
  config = config_;
  config.rms_eps = 1e-6f;
  EXPECT_GT(distance(found, test::last_hidden(config, checkpoint_.tensors(), prompt)), 2 * kReferenceBound);
}

// With two key heads for six value heads it shows which reads which.
INSTANTIATE_TEST_SUITE_P(Heads, OtherSizes, testing::Values(GdnHeads{1, 3}, GdnHeads{3, 3}, GdnHeads{2, 6}),
                         [](const auto& each) {
                           return std::to_string(each.param.key) + "_key_" +
                                  std::to_string(each.param.value) + "_value";
                         });

}  // namespace
}  // namespace branchmark
