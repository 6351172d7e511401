#include "branchmark/report/report.hpp"

#include <fmt/format.h>

#include <cctype>
#include <random>

#include "branchmark/report/host.hpp"

namespace branchmark {
namespace {

// An object whose empty members are null, with the reason under `null_reasons`.
class Fields {
 public:
  explicit Fields(const std::map<std::string, std::string>& reasons = {}) : reasons_(reasons) {}

  template <class Value>
  void put(const std::string& name, const std::optional<Value>& value) {
    if (value)
      object_[name] = *value;
    else
      put_null(name);
  }
  void put(const std::string& name, Json value) { object_[name] = std::move(value); }
  void put_null(const std::string& name) {
    object_[name] = nullptr;
    const auto found = reasons_.find(name);
    nulls_[name] = found == reasons_.end() ? "not known" : found->second;
  }

  Json take() {
    if (!nulls_.empty()) object_["null_reasons"] = std::move(nulls_);
    return std::move(object_);
  }

 private:
  Json object_ = Json::object();
  Json nulls_ = Json::object();
  std::map<std::string, std::string> reasons_;
};

Json exit_json(const Exit& exit) {
  return {{"code", exit.code}, {"name", exit.name}, {"reason", exit.reason}};
}

Json tool_json(const ToolInfo& tool) {
  Fields fields({{"git_sha", "built from a copy without git"}, {"dirty", "built from a copy without git"}});
  fields.put("version", tool.version);
  fields.put("git_sha", tool.git_sha);
  fields.put("dirty", tool.dirty);
  fields.put("compiler", tool.compiler);
  fields.put("build_type", tool.build_type);
  return fields.take();
}

Json kernels_json(const KernelsInfo& kernels) {
  return {{"path", kernels.path},
          {"abi_version", kernels.abi_version},
          {"build_id", kernels.build_id},
          {"sha256", kernels.sha256}};
}

Json host_json(const HostInfo& host) {
  Fields fields;
  fields.put("os", host.os);
  fields.put("kernel", host.kernel);
  fields.put("architecture", host.architecture);
  fields.put("cpu_model", host.cpu_model);
  fields.put("logical_cores", host.logical_cores);
  fields.put("usable_cores", host.usable_cores);
  fields.put("memory_bytes", host.memory_bytes);
  return fields.take();
}

Json model_json(const ModelInfo& model) {
  return {{"name", model.name},
          {"source", model.source},
          {"shape", model.shape},
          {"weights_digest", model.weights_digest},
          {"profile", model.profile}};
}

Json scenario_json(const ScenarioInfo& scenario) {
  return {{"name", scenario.name}, {"digest", scenario.digest}, {"expanded", scenario.expanded}};
}

template <class Value>
std::optional<Json> as_json(const std::optional<Value>& value, Json (*convert)(const Value&)) {
  return value ? std::optional(convert(*value)) : std::nullopt;
}

// "20260131T120000Z-smoke-1a2b3c4d": sorts by time, says what it was, is unique.
std::string make_run_id(const std::string& started_at, const std::string& scenario_name) {
  std::string id;
  for (const char c : started_at.substr(0, 19))
    if (c != '-' && c != ':') id += c;
  std::string name;
  for (const char c : scenario_name.substr(0, 40)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
    name += plain ? c : '-';
  }
  std::random_device random;
  return fmt::format("{}Z-{}{}{:08x}", id, name, name.empty() ? "" : "-", random());
}

}  // namespace

Report begin_report(std::string command, std::string scenario_name, const std::vector<std::string>& argv) {
  Report report;
  report.command = std::move(command);
  report.started_at = utc_now();
  report.run_id = make_run_id(report.started_at, scenario_name);
  report.tool = describe_tool();
  report.argv = redacted(argv);
  report.environment = recorded_environment();
  report.host = describe_host();
  return report;
}

Json to_json(const DeviceInfo& device) {
  Fields fields(device.null_reasons);
  fields.put("name", device.name);
  fields.put("is_cpu", device.is_cpu);
  fields.put("uuid", device.uuid);
  fields.put("pci_id", device.pci_id);
  fields.put("architecture", device.architecture);
  fields.put("multiprocessors", device.multiprocessors);
  fields.put("memory_bytes", device.memory_bytes);
  fields.put("l2_bytes", device.l2_bytes);
  fields.put("driver", device.driver);
  fields.put("cuda_runtime", device.cuda_runtime);
  fields.put("cublaslt", device.cublaslt);
  fields.put("ecc", device.ecc);
  fields.put("mig", device.mig);
  fields.put("power_limit_w", device.power_limit_w);
  return fields.take();
}

Json header_to_json(const Report& report) {
  std::map<std::string, std::string> reasons = report.null_reasons;
  for (const char* name : {"exit", "ended_at"}) reasons.try_emplace(name, "the run has not ended");
  for (const char* name : {"kernels", "device", "model"})
    reasons.try_emplace(name, "the run did not get so far");
  for (const char* name : {"device_before", "device_after"})
    reasons.try_emplace(name, "no counters on this device");
  reasons.try_emplace("scenario", "the command takes no scenario");
  Fields fields(reasons);
  fields.put("schema",
             Json{{"name", kReportSchema}, {"version", fmt::format("{}.{}", kSchemaMajor, kSchemaMinor)}});
  fields.put("run_id", report.run_id);
  fields.put("command", report.command);
  fields.put("level", report.level);
  fields.put("complete", report.complete);
  fields.put("exit", as_json(report.exit, exit_json));
  fields.put("started_at", report.started_at);
  fields.put("ended_at", report.ended_at);
  fields.put("tool", tool_json(report.tool));
  fields.put("kernels", as_json(report.kernels, kernels_json));
  if (report.kernels_against) fields.put("kernels_against", kernels_json(*report.kernels_against));
  fields.put("argv", report.argv);
  fields.put("environment", report.environment);
  fields.put("host", host_json(report.host));
  fields.put("device", as_json<DeviceInfo>(report.device, to_json));
  fields.put("device_before", report.device_before);
  fields.put("device_after", report.device_after);
  fields.put("model", as_json(report.model, model_json));
  fields.put("scenario", as_json(report.scenario, scenario_json));
  fields.put("gemm", report.gemm);
  if (report.kept_outputs) fields.put("kept_outputs", Json{{"folder", report.kept_outputs->folder}});
  return fields.take();
}

Json to_json(const Report& report) {
  Json json = header_to_json(report);
  Json& cases = json["cases"] = Json::array();
  for (const CaseRecord& record : report.cases) cases.push_back(to_json(record));
  return json;
}

void write_report(const Report& report, const JsonSink& sink) {
  Json json = header_to_json(report);
  json["cases"] = nullptr;
  bool first = true;
  for (const auto& [name, member] : json.items()) {
    sink(fmt::format("{}\n  {}: ", first ? "{" : ",", json_quoted(name)));
    first = false;
    if (name != "cases") {
      write_json(member, JsonStyle::indented, sink, 1);
      continue;
    }
    sink("[");
    for (std::size_t i = 0; i < report.cases.size(); ++i) {
      sink(i == 0 ? "\n    " : ",\n    ");
      write_json(to_json(report.cases[i]), JsonStyle::indented, sink, 2);
    }
    sink(report.cases.empty() ? "]" : "\n  ]");
  }
  sink("\n}\n");
}

}  // namespace branchmark
