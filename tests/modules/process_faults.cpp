// The CPU module with a fault that costs more than a wrong result, for tests of the tool that must outlive
// it.
//
// The environment variable BRANCHMARK_TEST_FAULT says what happens, and after an "@" in which call (without:
// in each):
//   segfault, kill_self, hang, exit, device_lost   in silu_mul: only the cases that run it are struck
//   out_of_memory                                  in memory.allocate
//   open_not_eligible, open_device_lost, open_segfault, open_hang, open_error   in device.open
//   comma_locale                                   device.open leaves the process with a decimal comma
#include <dlfcn.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <locale>
#include <string>
#include <string_view>

#include "branchmark/kernels.h"

namespace {

const bmk_kernels* real() {
  static const bmk_kernels* const table = []() -> const bmk_kernels* {
    void* library = dlopen(BRANCHMARK_CPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    void* symbol = dlsym(library, BMK_ENTRY_POINT);
    return symbol == nullptr ? nullptr : reinterpret_cast<bmk_entry_point>(symbol)();
  }();
  return table;
}

// Whether the fault `name` is due, in this call to its place.
class Trigger {
 public:
  bool is_due(std::string_view name) {
    const char* variable = std::getenv("BRANCHMARK_TEST_FAULT");
    const std::string_view wanted = variable == nullptr ? "" : variable;
    const auto at = wanted.find('@');
    if (wanted.substr(0, at) != name) return false;
    ++calls_;
    return at == std::string_view::npos || std::to_string(calls_) == wanted.substr(at + 1);
  }

 private:
  std::int64_t calls_ = 0;
};

const char* own_error = nullptr;

const char* last_error() {
  return own_error != nullptr ? own_error : real()->last_error();
}

bmk_status say(bmk_status status, const char* message) {
  own_error = message;
  return status;
}

class Comma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// That of LC_ALL, or another; also where none is installed, as far as C++ goes.
void set_comma_locale() {
  std::locale::global(std::locale(std::locale::classic(), new Comma));
  for (const char* name : {"", "de_DE.UTF-8", "fr_FR.UTF-8", "pl_PL.UTF-8"})
    if (std::setlocale(LC_ALL, name) != nullptr && *std::localeconv()->decimal_point == ',') return;
}

[[noreturn]] void hang() {
  while (true) pause();
}

bmk_status silu_mul(bmk_stream* stream, const bmk_silu_mul_args* args) {
  static Trigger segfault, kill_self, hanging, exiting, device_lost;
  own_error = nullptr;
  if (segfault.is_due("segfault")) raise(SIGSEGV);
  if (kill_self.is_due("kill_self")) raise(SIGKILL);
  if (hanging.is_due("hang")) hang();
  if (exiting.is_due("exit")) _exit(0);
  if (device_lost.is_due("device_lost")) return say(BMK_DEVICE_LOST, "fell off the bus");
  return real()->ops->silu_mul(stream, args);
}

bmk_status allocate(bmk_device* device, std::int64_t bytes, void** data) {
  static Trigger out_of_memory;
  own_error = nullptr;
  if (out_of_memory.is_due("out_of_memory")) return say(BMK_OUT_OF_MEMORY, "nothing left");
  return real()->memory->allocate(device, bytes, data);
}

bmk_status open(std::int64_t index, const bmk_device_options* options, bmk_device** device) {
  static Trigger not_eligible, device_lost, segfault, hanging, failing, comma;
  own_error = nullptr;
  if (not_eligible.is_due("open_not_eligible")) return say(BMK_NO_DEVICE, "taken by another");
  if (device_lost.is_due("open_device_lost")) return say(BMK_DEVICE_LOST, "fell off the bus");
  if (failing.is_due("open_error")) return say(BMK_FAILED, "the driver does not answer");
  if (comma.is_due("comma_locale")) set_comma_locale();
  if (segfault.is_due("open_segfault")) raise(SIGSEGV);
  if (hanging.is_due("open_hang")) hang();
  return real()->device->open(index, options, device);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  if (real() == nullptr) return nullptr;
  static const bmk_device_api device = [] {
    auto api = *real()->device;
    api.open = open;
    return api;
  }();
  static const bmk_memory_api memory = [] {
    auto api = *real()->memory;
    api.allocate = allocate;
    return api;
  }();
  static const bmk_ops_api ops = [] {
    auto api = *real()->ops;
    api.silu_mul = silu_mul;
    return api;
  }();
  static const bmk_kernels table = [] {
    auto faulty = *real();
    faulty.name = "cpu-process-faults";
    faulty.last_error = last_error;
    faulty.device = &device;
    faulty.memory = &memory;
    faulty.ops = &ops;
    return faulty;
  }();
  return &table;
}
