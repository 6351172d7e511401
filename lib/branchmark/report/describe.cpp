#include "branchmark/report/describe.hpp"

#include "branchmark/base/digest.hpp"

namespace branchmark {
namespace {

std::optional<std::string> known_text(const char* text) {
  return *text ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<std::int64_t> known_number(std::int64_t number) {
  return number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<bool> known_flag(std::int32_t flag) {
  return flag >= 0 ? std::optional(flag != 0) : std::nullopt;
}

}  // namespace

DeviceInfo describe_device(const bmk_device_info& info) {
  DeviceInfo device;
  device.name = info.name;
  device.is_cpu = info.is_cpu != 0;
  device.uuid = known_text(info.uuid);
  device.pci_id = known_text(info.pci_id);
  device.architecture = known_text(info.architecture);
  device.multiprocessors = known_number(info.multiprocessors);
  device.memory_bytes = known_number(info.memory_bytes);
  device.l2_bytes = known_number(info.l2_bytes);
  device.driver = known_text(info.driver_version);
  device.cuda_runtime = known_text(info.runtime_version);
  device.cublaslt = known_text(info.blas_version);
  device.ecc = known_flag(info.ecc);
  device.mig = known_flag(info.mig);
  if (device.is_cpu)
    for (const char* name :
         {"uuid", "pci_id", "driver", "cuda_runtime", "cublaslt", "ecc", "mig", "power_limit_w"})
      device.null_reasons[name] = "a CPU has none";
  return device;
}

Json describe_counters(TelemetrySource& telemetry) {
  const auto reading = telemetry.read();
  Json json = {{"source", telemetry.name()}};
  const auto put = [&](const char* name, const auto& value) { json[name] = value ? Json(*value) : Json(); };
  put("sm_clock_mhz", reading.sm_clock_mhz);
  put("memory_clock_mhz", reading.memory_clock_mhz);
  put("temperature_celsius", reading.temperature_celsius);
  put("power_w", reading.power_w);
  put("power_limit_w", reading.power_limit_w);
  put("energy_joules", reading.energy_joules);
  put("utilisation_share", reading.utilisation_share);
  put("throttle_reasons", reading.throttle_reasons);
  put("ecc_corrected", reading.ecc_corrected);
  put("ecc_uncorrected", reading.ecc_uncorrected);
  put("remapped_rows_corrected", reading.remapped_rows_corrected);
  put("remapped_rows_uncorrected", reading.remapped_rows_uncorrected);
  put("other_processes", reading.other_processes);
  if (!reading.null_reasons.empty()) json["null_reasons"] = reading.null_reasons;
  return json;
}

KernelsInfo describe_kernels(const KernelLibrary& library) {
  return {library.path().string(), library.table().abi_version, library.table().build_id,
          sha256_hex(read_file(library.path()))};
}

ModelInfo describe_model(const Scenario& scenario, const ModelConfig& config, std::string weights_digest,
                         std::string profile) {
  ModelInfo model;
  model.name = config.name;
  model.source = scenario.model.preset ? "preset" : "checkpoint";
  model.weights_digest = std::move(weights_digest);
  model.profile = scenario.model.merge ? "merged LoRA adapter, " + profile : std::move(profile);
  Json layers = Json::array();
  for (const LayerKind kind : config.layers) layers.push_back(kind == LayerKind::gdn ? "gdn" : "attention");
  model.shape = {{"hidden", config.hidden},
                 {"ffn", config.ffn},
                 {"vocabulary", config.vocabulary},
                 {"query_heads", config.query_heads},
                 {"kv_heads", config.kv_heads},
                 {"key_heads", config.key_heads},
                 {"value_heads", config.value_heads},
                 {"max_positions", config.max_positions},
                 {"rope_theta", config.rope_theta},
                 {"rms_eps", config.rms_eps},
                 {"mrope_section", config.mrope_section},
                 {"layers", std::move(layers)}};
  return model;
}

ScenarioInfo describe_scenario(const Scenario& scenario) {
  return {scenario.name, scenario.digest(), scenario.expanded()};
}

}  // namespace branchmark
