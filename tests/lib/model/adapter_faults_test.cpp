// A faulty adapter is refused while a run is set up: before its module is opened, hence before any call of
// it.

#include <functional>
#include <limits>
#include <optional>

#include "branchmark/model/adapter.hpp"
#include "branchmark/scenario/load.hpp"
#include "branchmark/verify/session.hpp"
#include "counting_module.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

using test::bytes_of;
using test::StoredTensor;

constexpr const char* kUp = "layers.0.mlp.up_proj";
constexpr std::int64_t kRank = 4;

// The two files of an adapter of one projection.
struct Files {
  Json settings = {{"peft_type", "LORA"}, {"r", kRank}, {"lora_alpha", 8}};
  std::optional<std::string> settings_text;  // instead of `settings`
  std::vector<StoredTensor> tensors;
  std::optional<std::string> weights_text;  // instead of `tensors`
  std::string without;                      // a file that is not written

  Files() {
    const auto place = place_of(preset("qwen3.5-smoke"), Projection::up_proj);
    tensors = {tensor(".lora_A.weight", {kRank, place.inputs}),
               tensor(".lora_B.weight", {place.outputs, kRank})};
  }
  StoredTensor& a() { return tensors[0]; }
  StoredTensor& b() { return tensors[1]; }

  static StoredTensor tensor(const std::string& ending, const std::vector<std::int64_t>& shape) {
    const std::vector<float> values(static_cast<std::size_t>(shape[0] * shape[1]), 0.125f);
    return {"base_model.model." + (kUp + ending), "F32", shape, bytes_of(values)};
  }
  std::string weights() const { return weights_text.value_or(test::safetensors_text(tensors)); }
  // The file with each `from` of its header replaced by `to`, of the same length.
  void rewrite_header(const std::string& from, const std::string& to) {
    auto text = test::safetensors_text(tensors);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    weights_text = text.replace(at, from.size(), to);
  }
  void write(const test::Folder& folder) const {
    if (without != "adapter_config.json")
      folder.write("adapter_config.json", settings_text.value_or(settings.dump()));
    if (without != "adapter_model.safetensors") folder.write("adapter_model.safetensors", weights());
  }
};

struct Fault {
  std::string name;
  std::vector<std::string> said;
  std::function<void(Files&)> make;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

// A value of the settings replaced.
Fault setting(const std::string& name, const std::string& key, const Json& value) {
  return {name, {"adapter_config.json", key}, [=](Files& files) { files.settings[key] = value; }};
}

void set_first_value(StoredTensor& tensor, float value) {
  tensor.bytes.replace(0, sizeof value, bytes_of(std::vector{value}));
}

const Fault kFaults[] = {
    {"settings_missing",
     {"adapter_config.json", "no such file"},
     [](Files& f) { f.without = "adapter_config.json"; }},
    {"settings_empty", {"adapter_config.json"}, [](Files& f) { f.settings_text = ""; }},
    {"settings_cut", {"adapter_config.json"}, [](Files& f) { f.settings_text = R"({"peft_type": "LO)"; }},
    {"settings_no_object",
     {"adapter_config.json", "object"},
     [](Files& f) {
       f.settings = {1, 2};
     }},
    {"settings_not_utf8",
     {"adapter_config.json", "UTF-8"},
     [](Files& f) { f.settings_text = "{\"peft_type\": \"LORA\xff\"}"; }},
    {"settings_with_a_key_twice",
     {"adapter_config.json", "\"r\""},
     [](Files& f) { f.settings_text = R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8, "r": 4})"; }},
    {"settings_without_rank", {"/r"}, [](Files& f) { f.settings.erase("r"); }},
    {"settings_without_alpha", {"/lora_alpha"}, [](Files& f) { f.settings.erase("lora_alpha"); }},
    {"settings_without_type", {"/peft_type"}, [](Files& f) { f.settings.erase("peft_type"); }},
    setting("another_type", "peft_type", "LOHA"),
    setting("rank_0", "r", 0),
    setting("rank_129", "r", 129),
    setting("rank_of_a_pattern", "rank_pattern", {{"up_proj", 129}}),
    setting("unknown_target", "target_modules", {"up_proj", "lm_head"}),
    setting("dora", "use_dora", true),
    {"scale_overflows", {kUp, "scale"}, [](Files& f) { f.settings["lora_alpha"] = 1e40; }},
    {"rank_is_not_the_tensors", {kUp, "[4, 256]", "[5, 256]"}, [](Files& f) { f.settings["r"] = 5; }},
    {"weights_missing",
     {"adapter_model.safetensors", "no such file"},
     [](Files& f) { f.without = "adapter_model.safetensors"; }},
    {"weights_empty", {"adapter_model.safetensors"}, [](Files& f) { f.weights_text = ""; }},
    {"weights_cut_in_the_header",
     {"adapter_model.safetensors"},
     [](Files& f) { f.weights_text = f.weights().substr(0, 40); }},
    {"weights_cut_in_the_data",
     {"adapter_model.safetensors"},
     [](Files& f) { f.weights_text = f.weights().substr(0, f.weights().size() - 1); }},
    {"weights_longer_than_the_header_says",
     {"adapter_model.safetensors"},
     [](Files& f) { f.weights_text = f.weights() + "x"; }},
    {"header_length_overflows",
     {"adapter_model.safetensors"},
     [](Files& f) { f.weights_text = test::safetensors_text("{}", "", std::uint64_t{1} << 63); }},
    {"a_tensor_twice",
     {"lora_B.weight"},
     [](Files& f) { f.rewrite_header("lora_A.weight", "lora_B.weight"); }},
    {"a_projection_twice",
     {"already given"},
     [](Files& f) {
       f.tensors.push_back(f.a());
       f.tensors.back().name = "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight";
     }},
    {"no_pair", {"no lora_A and lora_B pair"}, [](Files& f) { f.tensors.clear(); }},
    {"without_a", {kUp, "lora_A.weight is missing"}, [](Files& f) { f.tensors = {f.b()}; }},
    {"without_b", {kUp, "lora_B.weight is missing"}, [](Files& f) { f.tensors = {f.a()}; }},
    {"unknown_tensor",
     {"unknown target"},
     [](Files& f) {
       f.tensors.push_back({"base_model.model.lm_head.lora_A.weight", "F32", {1}, "abcd"});
     }},
    {"no_such_layer",
     {"layers.9", "0 to"},
     [](Files& f) {
       for (auto& tensor : f.tensors) tensor.name.replace(tensor.name.find("layers.0"), 8, "layers.9");
     }},
    {"projection_of_another_layer_kind",
     {"layer 0", "q_proj"},
     [](Files& f) { f.a().name = "base_model.model.layers.0.self_attn.q_proj.lora_A.weight"; }},
    {"a_transposed",
     {"lora_A", "[256, 4]", "[4, 256]"},
     [](Files& f) {
       f.a().shape = {256, kRank};
     }},
    {"b_transposed",
     {"lora_B", "[4, 512]", "[512, 4]"},
     [](Files& f) {
       f.b().shape = {kRank, 512};
     }},
    {"a_of_three_dimensions",
     {"lora_A", "[4, 256, 1]"},
     [](Files& f) {
       f.a().shape = {kRank, 256, 1};
     }},
    {"a_in_f16",
     {"lora_A", "F16"},
     [](Files& f) {
       f.a().type = "F16";
       f.a().bytes.resize(f.a().bytes.size() / 2);
     }},
    {"b_in_i64",
     {"lora_B", "I64"},
     [](Files& f) {
       f.b().type = "I64";
       f.b().bytes.resize(f.b().bytes.size() * 2);
     }},
    {"a_with_nan",
     {"lora_A", "finite"},
     [](Files& f) { set_first_value(f.a(), std::numeric_limits<float>::quiet_NaN()); }},
    {"b_with_infinity",
     {"lora_B", "finite"},
     [](Files& f) { set_first_value(f.b(), std::numeric_limits<float>::infinity()); }},
};

class AdapterFaults : public testing::TestWithParam<Fault> {
 protected:
  std::shared_ptr<Session> set_up() {
    const Json scenario = {{"schema_version", "1.0"},
                           {"name", "adapted"},
                           {"model", {{"preset", "qwen3.5-smoke"}, {"adapter", "."}}}};
    return std::make_shared<Session>(
        parse_scenario(scenario.dump(), "test", folder_.path(), {}),
        SessionOptions{.level = Level::medium,
                       .command = "branchmark qualify x",
                       .open_context = [this](const auto&, const auto&) { return module_.open(); },
                       .on_cpu = true,
                       .gemm = {}});
  }

  const test::CountingModule module_;
  const test::Folder folder_;
};

TEST_P(AdapterFaults, AreRefusedBeforeTheModuleIsOpened) {
  const auto before = module_.counts();
  Files files;
  GetParam().make(files);
  files.write(folder_);
  test::expect_error(ErrorCode::usage, GetParam().said, [&] { set_up(); });
  EXPECT_EQ(module_.counts().calls, before.calls);
  test::expect_same_live(before, module_.counts());
}

INSTANTIATE_TEST_SUITE_P(Each, AdapterFaults, testing::ValuesIn(kFaults),
                         [](const auto& each) { return each.param.name; });

using AdapterWithoutFault = AdapterFaults;

// The control: the files without a fault are read, and the module is opened and called for them.
TEST_P(AdapterWithoutFault, IsRun) {
  const auto before = module_.counts();
  Files().write(folder_);
  const auto session = set_up();
  EXPECT_EQ(module_.counts().calls, before.calls);
  EXPECT_EQ(session->model().forward(session->random_prompt("control", 5)).num_rows(), 1);
  EXPECT_GT(module_.calls_of("ops.lora_delta"), 0);
}

INSTANTIATE_TEST_SUITE_P(Control, AdapterWithoutFault, testing::Values(Fault{}));

}  // namespace
}  // namespace branchmark
