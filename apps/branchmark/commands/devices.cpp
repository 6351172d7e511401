#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "branchmark/device/context.hpp"
#include "branchmark/report/describe.hpp"
#include "branchmark/report/output_file.hpp"
#include "commands/commands.hpp"
#include "progress.hpp"

namespace branchmark::app {
namespace {

struct Device {
  DeviceInfo info;
  std::string why_not;  // empty: eligible
};

struct Module {
  std::string name;
  std::shared_ptr<const KernelLibrary> library;  // null where it could not be loaded
  std::vector<Device> devices;
  std::string problem;  // why it could not be loaded or sees no device
};

Module look_into(std::string name, const std::function<std::shared_ptr<const KernelLibrary>()>& load) {
  Module module;
  module.name = std::move(name);
  try {
    module.library = load();
    module.name = module.library->table().name;
    const auto count = Context::count(*module.library);
    if (count == 0) module.problem = module.library->table().last_error();
    for (std::int64_t index = 0; index < count; ++index) {
      const auto info = Context::describe(*module.library, index);
      module.devices.push_back({describe_device(info), static_cast<const char*>(info.ineligible_reason)});
    }
  } catch (const Error& error) {
    module.problem = error.what();
  }
  return module;
}

std::vector<Module> all_modules(const std::optional<std::string>& kernels) {
  if (kernels) return {look_into(*kernels, [&] { return KernelLibrary::load(*kernels); })};
  std::vector<Module> modules;
  for (const std::string name : {"cuda", "cpu"})
    modules.push_back(look_into(name, [&] { return KernelLibrary::load_shipped(name); }));
  return modules;
}

// What --device takes for it.
std::string word_for(const Device& device, std::size_t index) {
  return device.info.is_cpu ? "cpu" : fmt::format("cuda:{}", index);
}

std::string memory_text(const DeviceInfo& info) {
  if (!info.memory_bytes) return "memory not known";
  return fmt::format("{:.1f} GiB", static_cast<double>(*info.memory_bytes) / (1 << 30));
}

std::string table(const std::vector<Module>& modules) {
  std::string text;
  for (const auto& module : modules) {
    text += fmt::format("module {}{}\n", module.name,
                        module.library ? ", " + module.library->path().string() : "");
    for (std::size_t i = 0; i < module.devices.size(); ++i) {
      const auto& [info, why_not] = module.devices[i];
      text += fmt::format("  {:<8} {}, {}, {}\n", word_for(module.devices[i], i), info.name,
                          info.architecture.value_or("architecture not known"), memory_text(info));
      if (info.uuid) text += fmt::format("  {:<8} {}\n", "", *info.uuid);
      if (info.driver) text += fmt::format("  {:<8} driver {}\n", "", *info.driver);
      text += fmt::format("  {:<8} {}\n", "", why_not.empty() ? "eligible" : "not eligible: " + why_not);
    }
    if (!module.problem.empty()) text += fmt::format("  {}\n", module.problem);
  }
  return text;
}

Json json_of(const Module& module) {
  Json json = {{"name", module.name}, {"devices", Json::array()}, {"problem", nullptr}, {"kernels", nullptr}};
  if (!module.problem.empty()) json["problem"] = module.problem;
  if (module.library)
    json["kernels"] = {{"path", module.library->path().string()},
                       {"abi_version", module.library->table().abi_version},
                       {"build_id", module.library->table().build_id}};
  for (std::size_t i = 0; i < module.devices.size(); ++i) {
    const auto& device = module.devices[i];
    json["devices"].push_back({{"index", i},
                               {"device", to_json(device.info)},
                               {"eligible", device.why_not.empty()},
                               {"ineligible_reason", nullptr}});
    if (!device.why_not.empty()) json["devices"].back()["ineligible_reason"] = device.why_not;
  }
  return json;
}

std::string json_text_of(const std::vector<Module>& modules) {
  Json json = {{"schema", {{"name", "branchmark-devices"}, {"version", "1.0"}}}, {"modules", Json::array()}};
  for (const auto& module : modules) json["modules"].push_back(json_of(module));
  return json_text(json) + "\n";
}

Exit verdict(const std::vector<Module>& modules) {
  std::int64_t eligible = 0;
  std::int64_t seen = 0;
  std::string first_reason;
  const auto because = [&](const std::string& reason) {
    if (first_reason.empty()) first_reason = reason;
  };
  for (const auto& module : modules) {
    because(module.problem);
    for (const auto& device : module.devices) {
      ++seen;
      if (device.why_not.empty())
        ++eligible;
      else
        because(fmt::format("{}: {}", device.info.name, device.why_not));
    }
  }
  if (eligible > 0) return make_exit(kExitOk, fmt::format("{} of {} devices eligible", eligible, seen));
  return make_exit(kExitNotEligible, fmt::format("none of {} devices is eligible{}{}", seen,
                                                 first_reason.empty() ? "" : "; ", first_reason));
}

}  // namespace

Command add_devices(CLI::App& app) {
  struct Options {
    std::optional<std::string> kernels;
    std::optional<std::string> json;
    bool force = false;
  };
  const auto options = std::make_shared<Options>();
  auto* parser = app.add_subcommand("devices",
                                    "Lists the devices that the kernel modules see, and whether each may be "
                                    "used.\n\nExample: branchmark devices --json -");
  parser->add_option("--kernels", options->kernels, "Ask this kernel module instead of the shipped ones")
      ->type_name("LIBRARY");
  parser->add_option("--json", options->json, "Also write the list as JSON; - is stdout")->type_name("FILE");
  parser->add_flag("--force", options->force, "Replace an existing output");
  return {parser, [options](const std::vector<std::string>&) {
            std::optional<OutputFile> file;
            if (options->json)
              file = OutputFile::open(*options->json, OutputKind::whole,
                                      options->force ? Replace::replace : Replace::refuse);
            const auto modules = all_modules(options->kernels);
            say(table(modules));
            if (file) {
              file->write(json_text_of(modules));
              file->commit();
            }
            return verdict(modules);
          }};
}

}  // namespace branchmark::app
