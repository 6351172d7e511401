// The report of a run. The structs are the JSON of results-schema/report.schema.json: what is empty here is
// null there, with the reason under `null_reasons` of the same object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/base/json.hpp"
#include "branchmark/report/case_record.hpp"
#include "branchmark/report/exit_code.hpp"

namespace branchmark {

inline constexpr std::string_view kReportSchema = "branchmark-report";
inline constexpr std::string_view kJournalSchema = "branchmark-journal";
inline constexpr int kSchemaMajor = 1;
inline constexpr int kSchemaMinor = 1;

struct ToolInfo {
  std::string version;
  std::optional<std::string> git_sha;  // full
  std::optional<bool> dirty;
  std::string compiler;
  std::string build_type;
};

struct KernelsInfo {
  std::string path;
  std::int64_t abi_version = 0;
  std::string build_id;
  std::string sha256;  // of the module file
};

struct HostInfo {
  std::string os;
  std::string kernel;
  std::string architecture;
  std::optional<std::string> cpu_model;
  std::int64_t logical_cores = 0;
  std::int64_t usable_cores = 0;  // by the affinity of the process
  std::optional<std::int64_t> memory_bytes;
};

struct DeviceInfo {
  std::string name;
  bool is_cpu = false;
  std::optional<std::string> uuid;
  std::optional<std::string> pci_id;
  std::optional<std::string> architecture;
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> l2_bytes;
  std::optional<std::string> driver;
  std::optional<std::string> cuda_runtime;
  std::optional<std::string> cublaslt;
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<double> power_limit_w;
  std::map<std::string, std::string> null_reasons;  // as Report::null_reasons
};

struct ModelInfo {
  std::string name;
  std::string source;  // "preset" or "checkpoint"
  Json shape = Json::object();
  std::string weights_digest;
  std::string profile;
};

struct ScenarioInfo {
  std::string name;
  std::string digest;
  std::string expanded;
};

// Where the outputs lie whose digests are in the report; kept_outputs.hpp has the form.
struct KeptOutputsInfo {
  std::string folder;              // as the report names it: relative to its own folder, or absolute
  std::filesystem::path resolved;  // not in the JSON: from where the report was read
};

struct Report {
  std::string run_id;
  std::string command;  // "qualify", ...
  std::string level = "medium";
  bool complete = false;
  std::optional<Exit> exit;  // empty in what is rebuilt from an unfinished journal
  std::string started_at;    // RFC 3339, UTC
  std::optional<std::string> ended_at;
  ToolInfo tool;
  std::optional<KernelsInfo> kernels;
  // Of `bench --against`: the build on side b; cases name their side by the parameter `side`.
  std::optional<KernelsInfo> kernels_against;
  std::vector<std::string> argv;  // redacted
  std::map<std::string, std::string> environment;
  HostInfo host;
  std::optional<DeviceInfo> device;
  std::optional<Json> device_before;  // counters, an object
  std::optional<Json> device_after;
  std::optional<ModelInfo> model;
  std::optional<ScenarioInfo> scenario;
  std::map<std::string, Json> gemm;  // by handle kind: the module's description
  std::optional<KeptOutputsInfo> kept_outputs;
  std::vector<CaseRecord> cases;
  // Why an optional member is empty, by its name; the rest is "not known".
  std::map<std::string, std::string> null_reasons;
};

// A report with what is known before anything has run: identity, time, tool, host, environment.
Report begin_report(std::string command, std::string scenario_name, const std::vector<std::string>& argv);

Json to_json(const DeviceInfo& device);
// Everything but the cases.
Json header_to_json(const Report& report);
Json to_json(const Report& report);
// The text of a report file, one case at a time, so that a long report is never held as a whole.
void write_report(const Report& report, const JsonSink& sink);

// Both throw usage for another schema, another major version or what the schema would refuse. Keys that are
// not known are ignored: a newer minor version adds them.
Report report_from_json(const Json& value, const std::string& origin);
Report read_report(const std::filesystem::path& file);

}  // namespace branchmark
