// What the checks of one run share: the scenario's prompts, the model over an open device, and the answers of
// forward_fixed, each computed once. The device is opened and the model made on first use, so that cases can
// be listed without touching any. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "branchmark/model/model.hpp"
#include "branchmark/report/kept_outputs.hpp"
#include "branchmark/scenario/scenario.hpp"
#include "branchmark/verify/case.hpp"

namespace branchmark {

enum class Level { quick, medium, full };  // --level quick | medium | long
std::string_view name_of(Level level);

// One request of a scenario: a request prefix with a grouping, or the prompts of its file.
struct Request {
  Parameters parameters;  // prefix=..., grouping=...; or file=...
  PrefixTree tree;
  std::vector<FullPrompt> prompts;  // in the tree's order
};

struct SessionOptions {
  Level level = Level::medium;
  // The command that runs one case alone is this text, then --filter and the key.
  std::string command = "branchmark qualify";
  // Opens the run's device, or the one that a side of `parity` names instead.
  std::function<std::shared_ptr<Context>(const std::optional<ScenarioPath>& kernels,
                                         const std::optional<std::string>& device)>
      open_context;
  bool on_cpu = false;
  GemmSetOptions gemm;
  // Where the outputs go whose digests are recorded; absent: nowhere.
  std::optional<KeptOutputs> kept_outputs = {};
};

class Session {
 public:
  // Reads the model's configuration and makes the prompts; opens no device.
  Session(Scenario scenario, SessionOptions options);

  const Scenario& scenario() const { return scenario_; }
  const ModelConfig& config() const { return config_; }
  const std::vector<Request>& requests() const { return requests_; }
  // The one that the scenario names, merged or not.
  const std::optional<Adapter>& adapter() const { return adapter_; }
  Level level() const { return options_.level; }
  // Known before the device is opened: what may be listed depends on it.
  bool on_cpu() const { return options_.on_cpu; }
  const std::filesystem::path& gemm_cache_file() const { return options_.gemm.cache_file; }

  const std::shared_ptr<Context>& context();
  // A device beside the run's own; weights are loaded again for it.
  std::shared_ptr<Context> open_beside(const std::optional<ScenarioPath>& kernels,
                                       const std::optional<std::string>& device) const {
    return options_.open_context(kernels, device);
  }
  std::shared_ptr<const Weights> load_weights_on(std::shared_ptr<Context> context) const;
  const std::shared_ptr<const Weights>& weights();
  // The scenario's model, eager.
  Model& model();
  // The same weights with CUDA graphs on; null where the device has none.
  Model* graph_model();
  // A fresh model over the same weights: nothing grown, nothing pooled.
  std::unique_ptr<Model> make_model(const ModelOptions& options = {});
  bool is_open() const { return context_ != nullptr; }

  // forward_fixed of a prompt, remembered.
  const HiddenRows& fixed(const Prompt& prompt, GemmKind gemm);
  // The digest of an output as a record has it: sha256 of its bytes, which are kept where the run keeps its
  // outputs. Throws io where they cannot be.
  std::string recorded_digest(const HiddenRows& rows) const;
  std::string recorded_digest(std::span<const std::byte> bytes, bmk_dtype type) const;
  const std::optional<KeptOutputs>& kept_outputs() const { return options_.kept_outputs; }
  // How a person repeats one case alone.
  std::string command_for(const std::string& key) const;

  // A prompt of random tokens; the same name and seed give the same tokens.
  Prompt random_prompt(const std::string& name, std::int64_t tokens) const;

  // The scenario's profile.
  ModelOptions model_options() const;
  Profile profile() const;
  // Throws usage where sharing is not proven for the profile; touches no device. `what` needs it.
  void require_shareable_profile(const std::string& what) const;

 private:
  Scenario scenario_;
  SessionOptions options_;
  ModelConfig config_;
  std::vector<Request> requests_;
  std::shared_ptr<Context> context_;
  std::shared_ptr<const Weights> weights_;
  std::optional<Adapter> adapter_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Model> graph_model_;
  std::map<std::pair<GemmKind, std::string>, HiddenRows> fixed_;
};

// All cases that the scenario's checks select, in schema order.
std::vector<Case> qualify_cases(const std::shared_ptr<Session>& session);

}  // namespace branchmark
