#include "error.hpp"

#include <new>

namespace branchmark::cuda {
namespace {

struct ThreadErrors {
  std::string message;
  std::uint64_t num_failures = 0;
};

ThreadErrors& thread_errors() noexcept {
  thread_local ThreadErrors errors;
  return errors;
}

}  // namespace

void fail(bmk_status status, std::string message) {
  throw Failure(status, std::move(message));
}

bmk_status status_of(cudaError_t error) noexcept {
  switch (error) {
    case cudaSuccess:
      return BMK_OK;
    case cudaErrorMemoryAllocation:
      return BMK_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
      return BMK_NO_DEVICE;
    // After these the context is corrupt: only a new process can use the device.
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidPc:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorMisalignedAddress:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorExternalDevice:
    case cudaErrorContextIsDestroyed:
    case cudaErrorMpsClientTerminated:
      return BMK_DEVICE_LOST;
    case cudaErrorNotSupported:
      return BMK_UNSUPPORTED;
    default:
      return BMK_FAILED;
  }
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  check_quietly(error);
  fail(status_of(error),
       std::string(what) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

void check_quietly(cudaError_t error) noexcept {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
}

const char* last_error() noexcept {
  return thread_errors().message.c_str();
}

void set_last_error(const char* message) noexcept {
  try {
    thread_errors().message = message;
  } catch (const std::bad_alloc&) {
    thread_errors().message.clear();
  }
}

std::uint64_t num_failures() noexcept {
  return thread_errors().num_failures;
}

bmk_status status_of_current_exception() noexcept {
  ++thread_errors().num_failures;
  try {
    throw;
  } catch (const Failure& failure) {
    set_last_error(failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    set_last_error("out of host memory");
    return BMK_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return BMK_FAILED;
  } catch (...) {
    set_last_error("an exception of unknown type");
    return BMK_FAILED;
  }
}

}  // namespace branchmark::cuda
