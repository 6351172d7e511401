// What every entry point of the module goes through: failures inside are exceptions, outside they are a
// status and the calling thread's last error. Nothing is thrown across the boundary.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "branchmark/kernels.h"

namespace branchmark::cpu {

// A failure on its way to the boundary.
struct Failure {
  bmk_status status;
  std::string message;
};

// Text of the calling thread's last failure; cut at a fixed length, so that recording one cannot fail.
void set_last_error(const char* message) noexcept;
const char* last_error() noexcept;

// Runs the body of an entry point.
template <typename Function>
bmk_status guarded(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
    return BMK_OK;
  } catch (const Failure& failure) {
    set_last_error(failure.message.c_str());
    return failure.status;
  } catch (const std::bad_alloc&) {
    set_last_error("out of host memory");
    return BMK_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return BMK_FAILED;
  } catch (...) {
    set_last_error("unknown failure");
    return BMK_FAILED;
  }
}

// Throws BMK_INVALID_ARGUMENT "<name> is NULL".
void require(const void* pointer, const char* name);

// Throws BMK_INVALID_ARGUMENT unless a caller's struct reaches as far as this module reads it.
void require_struct_size(const char* name, int64_t found, int64_t wanted);

}  // namespace branchmark::cpu
