// Parts of a report, from the objects that they describe.
#pragma once

#include <string>

#include "branchmark/device/kernel_library.hpp"
#include "branchmark/device/telemetry.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/report/report.hpp"
#include "branchmark/scenario/scenario.hpp"

namespace branchmark {

DeviceInfo describe_device(const bmk_device_info& info);

// A reading of the device's counters, what is unknown being null with its reason. Throws what reading does.
Json describe_counters(TelemetrySource& telemetry);

// Reads the module's file for its digest. Throws io.
KernelsInfo describe_kernels(const KernelLibrary& library);

// `profile` as Profile::describe() says it; a merged adapter, which no profile shows, is put before it.
ModelInfo describe_model(const Scenario& scenario, const ModelConfig& config, std::string weights_digest,
                         std::string profile);

ScenarioInfo describe_scenario(const Scenario& scenario);

}  // namespace branchmark
