// main() of a test that is compiled for one instruction set, BRANCHMARK_ISA: on a processor that lacks it the
// tests are listed, but running one ends with the exit code that ctest reports as skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#define BRANCHMARK_TEXT_OF(name) #name
#define BRANCHMARK_TEXT(name) BRANCHMARK_TEXT_OF(name)

namespace {

constexpr int kSkipped = 77;

bool processor_has(const char* isa) {
#if defined(__x86_64__)
  if (strcmp(isa, "x86_64_v4") == 0) return __builtin_cpu_supports("avx512vl");
  if (strcmp(isa, "x86_64_v3") == 0) return __builtin_cpu_supports("avx2");
#endif
  return strcmp(isa, "baseline") == 0;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* isa = BRANCHMARK_TEXT(BRANCHMARK_ISA);
  if (!processor_has(isa) && !testing::GTEST_FLAG(list_tests)) {
    std::printf("this processor lacks %s\n", isa);
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
