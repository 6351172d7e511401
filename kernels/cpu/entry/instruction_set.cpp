#include "entry/instruction_set.hpp"

#include <cstdlib>
#include <string>

#include "entry/boundary.hpp"

namespace branchmark::cpu {
namespace {

struct Candidate {
  const char* name;
  const Compute& (*compute)();
  bool supported;
};

#if defined(__x86_64__)
// The levels of the x86-64 psABI, by those of their features that can be asked for; every processor with
// these has the rest (F16C, LZCNT, MOVBE). The answer covers the operating system's support of the registers.
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

}  // namespace

InstructionSet choose_instruction_set() {
  const Candidate candidates[] = {
#if defined(__x86_64__)
    {"x86_64_v4", x86_64_v4::compute, has_v4()},
    {"x86_64_v3", x86_64_v3::compute, has_v3()},
#endif
    {"baseline", baseline::compute, true},
  };
  const char* variable = std::getenv("BRANCHMARK_CPU_ISA");
  const std::string asked = variable != nullptr ? variable : "";
  std::string known;
  for (const Candidate& candidate : candidates) {
    if (asked.empty() ? candidate.supported : asked == candidate.name) {
      if (candidate.supported) return {candidate.name, &candidate.compute()};
      throw Failure{BMK_UNSUPPORTED, "BRANCHMARK_CPU_ISA=" + asked +
                                         ", which this processor lacks; unset it for the best that it has"};
    }
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  }
  throw Failure{BMK_INVALID_ARGUMENT, "BRANCHMARK_CPU_ISA=" + asked + ", wanted one of " + known};
}

}  // namespace branchmark::cpu
