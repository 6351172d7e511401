#include "entry/boundary.hpp"

#include <cstring>

namespace branchmark::cpu {
namespace {

constexpr std::size_t kErrorBytes = 1024;
thread_local char error_text[kErrorBytes] = "";

}  // namespace

void set_last_error(const char* message) noexcept {
  const std::size_t length = strnlen(message, kErrorBytes - 1);
  memcpy(error_text, message, length);
  error_text[length] = '\0';
}

const char* last_error() noexcept {
  return error_text;
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Failure{BMK_INVALID_ARGUMENT, std::string(name) + " is NULL"};
}

void require_struct_size(const char* name, int64_t found, int64_t wanted) {
  if (found >= wanted) return;
  throw Failure{BMK_INVALID_ARGUMENT, std::string(name) + ".struct_size is " + std::to_string(found) +
                                          ", wanted at least " + std::to_string(wanted)};
}

}  // namespace branchmark::cpu
