// What the operating system tells of this machine.
#pragma once

#include <cstdint>
#include <string>

namespace branchmark::cpu {

// Processor name, or the architecture where the system gives none ("AMD EPYC 9654", "aarch64").
std::string processor_name();
const char* architecture();  // "x86-64", "aarch64"

// -1 where unknown.
int64_t hardware_threads();
int64_t second_level_cache_bytes();
int64_t total_memory_bytes();
int64_t available_memory_bytes();

}  // namespace branchmark::cpu
