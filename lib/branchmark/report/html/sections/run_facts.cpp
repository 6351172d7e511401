#include <fmt/format.h>

#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/sections/sections.hpp"
#include "branchmark/report/summary.hpp"

namespace branchmark::html {
namespace {

std::string command_line(const Report& report) {
  std::string text;
  for (const auto& argument : report.argv) text += (text.empty() ? "" : " ") + argument;
  return text;
}

void add_device(Table& table, const DeviceInfo& device) {
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) table.rows.push_back({name, *value});
  };
  add("device UUID", device.uuid);
  add("driver", device.driver);
  add("CUDA runtime", device.cuda_runtime);
  add("cuBLASLt", device.cublaslt);
  if (device.memory_bytes)
    table.rows.push_back({"device memory", si_text(static_cast<double>(*device.memory_bytes), "B")});
  if (device.l2_bytes)
    table.rows.push_back({"L2 cache", si_text(static_cast<double>(*device.l2_bytes), "B")});
  if (device.power_limit_w) table.rows.push_back({"power limit", fmt::format("{} W", *device.power_limit_w)});
}

}  // namespace

Section run_facts_section(const Report& report) {
  Table table{.title = "What ran, and on what",
              .columns = {{"what", Align::text}, {"value", Align::text}},
              .rows = {}};
  const auto add = [&](const char* name, const std::string& value) { table.rows.push_back({name, value}); };
  add("run", report.run_id);
  table.rows.push_back({"command line", element("code", {}, command_line(report))});
  add("started", report.started_at);
  add("ended", report.ended_at.value_or("did not end"));
  add("level", report.level);
  add("device", device_text(report));
  if (report.device) add_device(table, *report.device);
  if (report.model) {
    add("model", report.model->name + ", profile " + report.model->profile);
    add("weights digest", report.model->weights_digest);
  }
  if (report.scenario) add("scenario digest", report.scenario->digest);
  add("revision", report.tool.git_sha.value_or("not known") +
                      (report.tool.dirty.value_or(false) ? ", with changes" : ""));
  add("tool", fmt::format("{}, {}, {}", report.tool.version, report.tool.compiler, report.tool.build_type));
  if (report.kernels) add("kernels", report.kernels->build_id);
  if (report.kernels_against) add("kernels of side b", report.kernels_against->build_id);
  add("host", report.host.cpu_model.value_or(report.host.architecture) + ", " + report.host.os);
  for (const auto& [name, value] : report.environment) table.rows.push_back({name, value});
  return {.title = "Run", .rest = draw(table)};
}

}  // namespace branchmark::html
