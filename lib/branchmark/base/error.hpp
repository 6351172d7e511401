// The one exception type. An Error ends a run, a case or a call; an expected outcome is a return value
// instead. A message names the thing, the value found, the value wanted and, where it helps, what to do.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace branchmark {

enum class ErrorCode {
  usage,           // a flag, scenario, checkpoint or report that cannot be used as given
  refused,         // a library call whose arguments or profile are not admitted; nothing was touched
  not_eligible,    // no such device, module missing or of another ABI, too little memory
  hardware_fault,  // the device was lost
  io,              // an input or output could not be read or written in full
  kernel,          // a kernel module's call failed
  unserved_size,   // the fixed GEMM algorithm cannot serve a number of rows
  non_finite,      // a result is NaN or infinite
  internal,        // a fault of this program
};

// The name used in findings and messages: "usage", "not_eligible", ...
std::string_view name_of(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message,
        std::source_location location = std::source_location::current())
      : std::runtime_error(message), code_(code), location_(location) {}

  ErrorCode code() const noexcept { return code_; }
  const std::source_location& location() const noexcept { return location_; }

 private:
  ErrorCode code_;
  std::source_location location_;
};

}  // namespace branchmark
