// Which of the compiled instruction sets a device computes with.
#pragma once

#include "compute.hpp"

namespace branchmark::cpu {

struct InstructionSet {
  const char* name;  // "baseline", "x86_64_v3", "x86_64_v4"
  const Compute* compute;
};

// The widest one that the processor has, or the one that the environment variable BRANCHMARK_CPU_ISA names.
// Throws Failure where that names none, or one that the processor lacks.
InstructionSet choose_instruction_set();

}  // namespace branchmark::cpu
