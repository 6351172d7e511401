#include "branchmark/compare/run_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "branchmark/base/digest.hpp"

namespace branchmark {
namespace {

std::string known(const std::optional<std::string>& value) {
  return value.value_or("not known");
}

std::string yes_or_no(const std::optional<bool>& value) {
  return value ? (*value ? "on" : "off") : "not known";
}

// The scenario's `bench` keys that say how long to sample, not what.
constexpr std::array<std::string_view, 4> kSamplingKeys = {"case_budget_s", "min_samples", "order_seed",
                                                           "target_interval"};

struct Workload {
  std::string digest;
  std::string sampling;
};

// The digest of what is computed. A digest that is not that of the text beside it is taken as it is.
Workload workload_of(const ScenarioInfo& scenario) {
  if (sha256_hex(scenario.expanded) != scenario.digest) return {scenario.digest, ""};
  Json expanded = parse_json(scenario.expanded, "scenario " + scenario.name);
  Json sampling = Json::object();
  if (expanded.is_object() && expanded.contains("bench") && expanded["bench"].is_object())
    for (const auto name : kSamplingKeys) {
      const auto found = expanded["bench"].find(name);
      if (found == expanded["bench"].end()) continue;
      sampling[std::string(name)] = *found;
      expanded["bench"].erase(found);
    }
  return {sha256_hex(json_text(expanded, JsonStyle::compact)), json_text(sampling, JsonStyle::compact)};
}

// A kernel module's build without the revision that it was made of, which is expected to differ.
std::string toolchain_of(const std::string& build_id) {
  return build_id.substr(0, build_id.find(", revision "));
}

// What the device says of its clocks, best read right after work: idle, some lower that of the memory.
std::string clock_policy(const std::optional<Json>& counters) {
  if (!counters) return "not known";
  std::string text;
  const auto reasons = counters->find("throttle_reasons");
  for (const auto* name : {"clocks_setting", "sync_boost", "display_clocks_setting"})
    if (reasons != counters->end() && reasons->is_array() &&
        std::find(reasons->begin(), reasons->end(), name) != reasons->end())
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  const auto memory = counters->find("memory_clock_mhz");
  if (memory != counters->end() && memory->is_number())
    text += fmt::format("{}memory at {} MHz", text.empty() ? "" : ", ", memory->get<double>());
  return text.empty() ? "not known" : text;
}

void add_device_facts(std::vector<RunFact>& facts, const Report& report) {
  const auto add = [&](std::string what, std::string why, std::string value) {
    facts.push_back({std::move(what), std::move(why), false, std::move(value)});
  };
  if (!report.device) {
    facts.push_back({"device", "times of different devices say nothing of a commit", true, "none"});
    return;
  }
  const auto& device = *report.device;
  facts.push_back(
      {"device", "times of different devices say nothing of a commit", true,
       device.is_cpu ? fmt::format("{}, {}", device.name, known(report.host.cpu_model)) : device.name});
  add("device's UUID", "devices of one model differ by some percent", known(device.uuid));
  add("driver", "it chooses clocks and compiles kernels", known(device.driver));
  add("CUDA runtime", "it can change speed", known(device.cuda_runtime));
  add("cuBLASLt", "it can change bits and speed", known(device.cublaslt));
  add("power limit", "it bounds the clocks",
      device.power_limit_w ? fmt::format("{} W", *device.power_limit_w) : "not known");
  add("clock policy", "it decides the clocks",
      clock_policy(report.device_after ? report.device_after : report.device_before));
  add("ECC", "it takes memory bandwidth", yes_or_no(device.ecc));
  add("MIG", "it divides the device", yes_or_no(device.mig));
  if (!device.is_cpu) add("host's CPU", "it decides what launching costs", known(report.host.cpu_model));
  add("usable cores", "they decide what launching, or a CPU device, takes",
      std::to_string(report.host.usable_cores));
}

}  // namespace

std::vector<RunFact> run_facts(const Report& report) {
  std::vector<RunFact> facts;
  facts.push_back({"command", "their cases have nothing in common", true, report.command});
  const auto& model = report.model;
  facts.push_back({"model", "it is another computation", true,
                   model ? fmt::format("{}, profile {}", model->name, model->profile) : "none"});
  facts.push_back(
      {"model's weights", "they are another computation", true, model ? model->weights_digest : "none"});
  facts.push_back({"model's shape", "it is another computation", true,
                   model ? json_text(model->shape, JsonStyle::compact) : "none"});
  const auto workload = report.scenario ? workload_of(*report.scenario) : Workload{"none", ""};
  facts.push_back({"workload", "it is another computation", true,
                   report.scenario ? fmt::format("{} {}", report.scenario->name, workload.digest) : "none"});
  facts.push_back({"sampling", "it decides how sure a time is", false, workload.sampling});
  facts.push_back({"level", "it decides how much is run", false, report.level});
  add_device_facts(facts, report);
  facts.push_back({"compiler", "it can change bits and speed", false,
                   fmt::format("{}, {}", report.tool.compiler, report.tool.build_type)});
  facts.push_back({"kernel module's toolchain", "it can change bits and speed", false,
                   report.kernels ? fmt::format("{}, ABI {}", toolchain_of(report.kernels->build_id),
                                                report.kernels->abi_version)
                                  : "none"});
  facts.push_back({"completeness", "cases that did not run are missing", false,
                   report.complete ? "complete" : "incomplete"});
  return facts;
}

}  // namespace branchmark
