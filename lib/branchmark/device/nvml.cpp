// The few functions used are declared here as the library's documentation has them (NVML API reference guide,
// stable since driver 510), so that building needs none of its headers.
#include "branchmark/device/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

using Status = int;
using Device = void*;
enum : Status { kSuccess = 0, kInsufficientSize = 7, kGpuIsLost = 15 };

enum ClockType : int { kClockSm = 1, kClockMemory = 2 };
constexpr int kTemperatureGpu = 0;
enum MemoryError : int { kCorrected = 0, kUncorrected = 1 };
constexpr int kSinceDriverLoad = 0;  // the "volatile" counters

struct Utilisation {
  unsigned gpu;
  unsigned memory;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

// A function of the library, under its present name or the one that it had before; calling one that it lacks
// answers as the library would.
template <class... Args>
class Function {
 public:
  Function(void* library, const char* name, const char* name_before = nullptr)
      : function_(reinterpret_cast<Status (*)(Args...)>(dlsym(library, name))) {
    if (function_ == nullptr && name_before != nullptr)
      function_ = reinterpret_cast<Status (*)(Args...)>(dlsym(library, name_before));
  }
  Status operator()(Args... args) const {
    constexpr Status kFunctionNotFound = 13;
    return function_ == nullptr ? kFunctionNotFound : function_(args...);
  }

 private:
  Status (*function_)(Args...);
};

// Never unloaded: the driver's threads may still be in it.
struct Library {
  explicit Library(void* handle)
      : init(handle, "nvmlInit_v2"),
        shutdown(handle, "nvmlShutdown"),
        by_uuid(handle, "nvmlDeviceGetHandleByUUID"),
        by_pci_id(handle, "nvmlDeviceGetHandleByPciBusId_v2"),
        clock(handle, "nvmlDeviceGetClockInfo"),
        temperature(handle, "nvmlDeviceGetTemperature"),
        power(handle, "nvmlDeviceGetPowerUsage"),
        power_limit(handle, "nvmlDeviceGetEnforcedPowerLimit"),
        energy(handle, "nvmlDeviceGetTotalEnergyConsumption"),
        utilisation(handle, "nvmlDeviceGetUtilizationRates"),
        throttle_reasons(handle, "nvmlDeviceGetCurrentClocksEventReasons",
                         "nvmlDeviceGetCurrentClocksThrottleReasons"),
        ecc_errors(handle, "nvmlDeviceGetTotalEccErrors"),
        remapped_rows(handle, "nvmlDeviceGetRemappedRows"),
        processes(handle, "nvmlDeviceGetComputeRunningProcesses_v3"),
        error_string(reinterpret_cast<const char* (*)(Status)>(dlsym(handle, "nvmlErrorString"))) {}

  std::string text(Status status) const {
    const char* known = error_string != nullptr ? error_string(status) : nullptr;
    return known != nullptr ? fmt::format("NVML: {}", known) : fmt::format("NVML: status {}", status);
  }

  Function<> init;
  Function<> shutdown;
  Function<const char*, Device*> by_uuid;
  Function<const char*, Device*> by_pci_id;
  Function<Device, int, unsigned*> clock;
  Function<Device, int, unsigned*> temperature;
  Function<Device, unsigned*> power;
  Function<Device, unsigned*> power_limit;
  Function<Device, unsigned long long*> energy;
  Function<Device, Utilisation*> utilisation;
  Function<Device, unsigned long long*> throttle_reasons;
  Function<Device, int, int, unsigned long long*> ecc_errors;
  Function<Device, unsigned*, unsigned*, unsigned*, unsigned*> remapped_rows;
  Function<Device, unsigned*, ProcessInfo*> processes;
  const char* (*error_string)(Status);
};

class Nvml final : public TelemetrySource {
 public:
  Nvml(const Library& library, Device device) : nvml_(library), device_(device) {}
  ~Nvml() override { static_cast<void>(nvml_.shutdown()); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string name() const override { return "nvml"; }

  Telemetry read_state() override {
    Telemetry reading;
    clock(reading, "sm_clock_mhz", kClockSm, reading.sm_clock_mhz);
    if (unsigned celsius = 0;
        known(reading, "temperature_celsius", nvml_.temperature(device_, kTemperatureGpu, &celsius)))
      reading.temperature_celsius = celsius;
    if (unsigned milliwatts = 0; known(reading, "power_w", nvml_.power(device_, &milliwatts)))
      reading.power_w = 1e-3 * milliwatts;
    if (unsigned long long bits = 0;
        known(reading, "throttle_reasons", nvml_.throttle_reasons(device_, &bits))) {
      auto& names = reading.throttle_reasons.emplace();
      for (const auto& reason : branchmark::throttle_reasons())
        if ((bits & reason.bit) != 0) names.emplace_back(reason.name);
    }
    ecc(reading, "ecc_uncorrected", kUncorrected, reading.ecc_uncorrected);
    return reading;
  }

  Telemetry read() override {
    Telemetry reading = read_state();
    clock(reading, "memory_clock_mhz", kClockMemory, reading.memory_clock_mhz);
    ecc(reading, "ecc_corrected", kCorrected, reading.ecc_corrected);
    if (unsigned milliwatts = 0; known(reading, "power_limit_w", nvml_.power_limit(device_, &milliwatts)))
      reading.power_limit_w = 1e-3 * milliwatts;
    if (unsigned long long millijoules = 0;
        known(reading, "energy_joules", nvml_.energy(device_, &millijoules)))
      reading.energy_joules = 1e-3 * static_cast<double>(millijoules);
    if (Utilisation rates{}; known(reading, "utilisation_share", nvml_.utilisation(device_, &rates)))
      reading.utilisation_share = 1e-2 * rates.gpu;
    remapped_rows(reading);
    processes(reading);
    return reading;
  }

 private:
  // Notes why a value is unknown; a lost device ends everything.
  bool known(Telemetry& reading, const std::string& name, Status status) const {
    if (status == kGpuIsLost)
      throw Error(ErrorCode::hardware_fault,
                  fmt::format("telemetry: the device is lost ({})", nvml_.text(status)));
    if (status != kSuccess) reading.null_reasons[name] = nvml_.text(status);
    return status == kSuccess;
  }

  void clock(Telemetry& reading, const std::string& name, ClockType type,
             std::optional<double>& value) const {
    if (unsigned mhz = 0; known(reading, name, nvml_.clock(device_, type, &mhz))) value = mhz;
  }

  void ecc(Telemetry& reading, const std::string& name, MemoryError type,
           std::optional<std::int64_t>& value) const {
    if (unsigned long long count = 0;
        known(reading, name, nvml_.ecc_errors(device_, type, kSinceDriverLoad, &count)))
      value = static_cast<std::int64_t>(count);
  }

  void remapped_rows(Telemetry& reading) const {
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    const auto status = nvml_.remapped_rows(device_, &corrected, &uncorrected, &pending, &failed);
    if (known(reading, "remapped_rows_corrected", status)) reading.remapped_rows_corrected = corrected;
    if (known(reading, "remapped_rows_uncorrected", status)) reading.remapped_rows_uncorrected = uncorrected;
  }

  // Processes are named as the host numbers them. In a container this process has another number there, so it
  // is one of those that are not its own: then one is taken off, as there must be one.
  void processes(Telemetry& reading) const {
    std::vector<ProcessInfo> list(256);
    auto count = static_cast<unsigned>(list.size());
    const auto status = nvml_.processes(device_, &count, list.data());
    if (status == kInsufficientSize) {
      reading.other_processes = static_cast<std::int64_t>(count) - 1;
      return;
    }
    if (!known(reading, "other_processes", status)) return;
    reading.other_processes = count == 0 ? 0 : static_cast<std::int64_t>(count) - 1;
  }

  const Library& nvml_;
  Device device_;
};

const Library* library(std::string& why_not) {
  static void* const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why_not = "NVML: libnvidia-ml.so.1 is not installed";
    return nullptr;
  }
  static const Library loaded(handle);
  return &loaded;
}

}  // namespace

std::unique_ptr<TelemetrySource> open_nvml(const std::string& uuid, const std::string& pci_id) {
  std::string why_not;
  const auto* nvml = library(why_not);
  if (nvml == nullptr) return no_telemetry(why_not);
  if (const auto status = nvml->init(); status != kSuccess) return no_telemetry(nvml->text(status));
  Device device = nullptr;
  Status status = uuid.empty() ? kSuccess : nvml->by_uuid(uuid.c_str(), &device);
  if (device == nullptr && status != kGpuIsLost && !pci_id.empty())
    status = nvml->by_pci_id(pci_id.c_str(), &device);
  if (status == kSuccess && device != nullptr) return std::make_unique<Nvml>(*nvml, device);
  const auto reason = status == kSuccess ? std::string("NVML: the device has neither UUID nor PCI id")
                                         : fmt::format("{}, for device {}", nvml->text(status), uuid);
  static_cast<void>(nvml->shutdown());
  if (status == kGpuIsLost) throw Error(ErrorCode::hardware_fault, "telemetry: the device is lost");
  return no_telemetry(reason);
}

}  // namespace branchmark
