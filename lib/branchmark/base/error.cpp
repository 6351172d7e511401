#include "branchmark/base/error.hpp"

namespace branchmark {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::refused:
      return "refused";
    case ErrorCode::not_eligible:
      return "not_eligible";
    case ErrorCode::hardware_fault:
      return "hardware_fault";
    case ErrorCode::io:
      return "io";
    case ErrorCode::kernel:
      return "kernel";
    case ErrorCode::unserved_size:
      return "unserved_size";
    case ErrorCode::non_finite:
      return "non_finite";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace branchmark
