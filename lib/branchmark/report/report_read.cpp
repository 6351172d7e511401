#include <fmt/format.h>

#include <array>
#include <charconv>

#include "branchmark/base/json_view.hpp"
#include "branchmark/report/read.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {
namespace {

std::optional<JsonView> present(const JsonView& view, std::string_view key) {
  const JsonView found = view.at(key);
  return found.is_null() ? std::nullopt : std::optional(found);
}

std::optional<std::string> optional_string(const JsonView& view, std::string_view key) {
  const auto found = present(view, key);
  return found ? std::optional(found->string()) : std::nullopt;
}

std::optional<bool> optional_boolean(const JsonView& view, std::string_view key) {
  const auto found = present(view, key);
  return found ? std::optional(found->boolean()) : std::nullopt;
}

std::optional<std::int64_t> optional_count(const JsonView& view, std::string_view key) {
  const auto found = present(view, key);
  return found ? std::optional(found->integer(0, INT64_MAX)) : std::nullopt;
}

std::optional<Json> optional_object(const JsonView& view, std::string_view key) {
  const auto found = present(view, key);
  if (!found) return std::nullopt;
  found->require_object();
  return found->value();
}

std::map<std::string, std::string> string_map(const JsonView& view) {
  std::map<std::string, std::string> map;
  for (const std::string& name : view.keys()) map[name] = view.at(name).string();
  return map;
}

std::map<std::string, std::string> null_reasons(const JsonView& view) {
  const auto reasons = view.find("null_reasons");
  return reasons ? string_map(*reasons) : std::map<std::string, std::string>();
}

Exit read_exit(const JsonView& view) {
  return {static_cast<int>(view.at("code").integer(0, 255)), view.at("name").label(),
          view.at("reason").string()};
}

ToolInfo read_tool(const JsonView& view) {
  return {view.at("version").label(), optional_string(view, "git_sha"), optional_boolean(view, "dirty"),
          view.at("compiler").string(), view.at("build_type").string()};
}

KernelsInfo read_kernels(const JsonView& view) {
  return {view.at("path").string(), view.at("abi_version").integer(0, INT64_MAX),
          view.at("build_id").string(), view.at("sha256").label()};
}

HostInfo read_host(const JsonView& view) {
  return {view.at("os").string(),
          view.at("kernel").string(),
          view.at("architecture").string(),
          optional_string(view, "cpu_model"),
          view.at("logical_cores").integer(0, INT64_MAX),
          view.at("usable_cores").integer(0, INT64_MAX),
          optional_count(view, "memory_bytes")};
}

DeviceInfo read_device(const JsonView& view) {
  DeviceInfo device;
  device.name = view.at("name").string();
  device.is_cpu = view.at("is_cpu").boolean();
  device.uuid = optional_string(view, "uuid");
  device.pci_id = optional_string(view, "pci_id");
  device.architecture = optional_string(view, "architecture");
  device.multiprocessors = optional_count(view, "multiprocessors");
  device.memory_bytes = optional_count(view, "memory_bytes");
  device.l2_bytes = optional_count(view, "l2_bytes");
  device.driver = optional_string(view, "driver");
  device.cuda_runtime = optional_string(view, "cuda_runtime");
  device.cublaslt = optional_string(view, "cublaslt");
  device.ecc = optional_boolean(view, "ecc");
  device.mig = optional_boolean(view, "mig");
  if (const auto limit = present(view, "power_limit_w")) device.power_limit_w = limit->real();
  device.null_reasons = null_reasons(view);
  return device;
}

ModelInfo read_model(const JsonView& view) {
  static constexpr std::array<std::string_view, 2> kSources = {"preset", "checkpoint"};
  const JsonView shape = view.at("shape");
  shape.require_object();
  return {view.at("name").string(), std::string(kSources[view.at("source").word(kSources)]), shape.value(),
          view.at("weights_digest").label(), view.at("profile").label()};
}

ScenarioInfo read_scenario(const JsonView& view) {
  return {view.at("name").string(), view.at("digest").label(), view.at("expanded").string()};
}

}  // namespace

void check_schema(const JsonView& schema, std::string_view name) {
  schema.at("name").word(std::array{name});
  const JsonView version = schema.at("version");
  const std::string text = version.string();
  std::int64_t major = -1;
  std::int64_t minor = -1;
  const char* end = text.data() + text.size();
  const auto dot = std::from_chars(text.data(), end, major).ptr;
  if (dot != end) std::from_chars(dot + 1, end, minor);
  if (major < 0 || minor < 0 || text != fmt::format("{}.{}", major, minor))
    version.refuse("a version as MAJOR.MINOR");
  if (major != kSchemaMajor)
    version.refuse(fmt::format("major version {}, the one that this program reads", kSchemaMajor));
}

Report report_header_from_json(const JsonView& view) {
  check_schema(view.at("schema"), kReportSchema);
  static constexpr std::array<std::string_view, 3> kLevels = {"quick", "medium", "long"};
  Report report;
  report.run_id = view.at("run_id").label();
  report.command = view.at("command").label();
  report.level = kLevels[view.at("level").word(kLevels)];
  report.complete = view.at("complete").boolean();
  if (const auto exit = present(view, "exit")) report.exit = read_exit(*exit);
  report.started_at = view.at("started_at").label();
  report.ended_at = optional_string(view, "ended_at");
  report.tool = read_tool(view.at("tool"));
  if (const auto kernels = present(view, "kernels")) report.kernels = read_kernels(*kernels);
  if (const auto kernels = view.find("kernels_against")) report.kernels_against = read_kernels(*kernels);
  for (const JsonView& argument : view.at("argv").items()) report.argv.push_back(argument.string());
  report.environment = string_map(view.at("environment"));
  report.host = read_host(view.at("host"));
  if (const auto device = present(view, "device")) report.device = read_device(*device);
  report.device_before = optional_object(view, "device_before");
  report.device_after = optional_object(view, "device_after");
  if (const auto model = present(view, "model")) report.model = read_model(*model);
  if (const auto scenario = present(view, "scenario")) report.scenario = read_scenario(*scenario);
  const JsonView gemm = view.at("gemm");
  for (const std::string& kind : gemm.keys()) {
    gemm.at(kind).require_object();
    report.gemm[kind] = gemm.at(kind).value();
  }
  if (const auto kept = view.find("kept_outputs"))
    report.kept_outputs = KeptOutputsInfo{kept->at("folder").string(), {}};
  report.null_reasons = null_reasons(view);
  return report;
}

Report report_from_json(const Json& value, const std::string& origin) {
  const JsonView view(value, origin);
  Report report = report_header_from_json(view);
  for (const JsonView& record : view.at("cases").items()) report.cases.push_back(read_case_record(record));
  return report;
}

void resolve_kept_outputs(Report& report, const std::filesystem::path& file) {
  if (report.kept_outputs) report.kept_outputs->resolved = file.parent_path() / report.kept_outputs->folder;
}

Report read_report(const std::filesystem::path& file) {
  auto report = report_from_json(read_json_file(file), file.string());
  resolve_kept_outputs(report, file);
  return report;
}

}  // namespace branchmark
