/* A module of an ABI version that no program knows. Only what every version begins with is set. */
#include "branchmark/kernels.h"

__attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  static const bmk_kernels table = {.abi_version = 99, .struct_size = 2 * sizeof(uint32_t)};
  return &table;
}
