#!/usr/bin/env bash
# Builds the host code with clang's sanitizers and runs tests under them.
#
#   scripts/sanitize.sh [units] [address] [thread]      default: address and thread
#
#   units     addresses, leaks and undefined behaviour: the unit tests of readers, reports, trees, weights and the
#             CPU module, in a minute after the build; what CI runs (build-asan)
#   address   the same of what passes run, and of the command line (build-asan)
#   thread    data races: what runs threads or processes (build-tsan)
#
# Float64 oracles, sweeps over sizes and whole qualifications are left out: they take most of the time and meet the
# same code. So is what limits the size of files, which the line counts meet as well; these, for
# scripts/coverage.sh, are left in build-asan/profiles. The fuzzers are built beside the tests.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kAddress=(base_test scenario_test report_test model_test prefix_tree_test execution_test cpu_module_test
  worker_messages_test cli_test trust_cli_test)
readonly kUnits=(base_test scenario_test report_test model_test prefix_tree_test worker_messages_test cpu_module_test)
readonly kFuzzers=(scenario_fuzzer checkpoint_fuzzer report_fuzzer)
# The pool of threads below the CPU module, contexts in threads of their own, the supervisor and its worker.
readonly kThread=(cpu_module_test execution_test report_test trust_cli_test)

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
ASAN_SYMBOLIZER_PATH=$(first_of llvm-symbolizer-16 llvm-symbolizer || true)
export ASAN_SYMBOLIZER_PATH

# run_tests FOLDER: those that were built; ctest lists each program that was not as a test that fails.
run_tests() {
  ctest --test-dir "$1" --output-on-failure --parallel "$(num_jobs)" --label-exclude slow --exclude-regex '_NOT_BUILT$|^(Digests|OtherFaults|Each/Faults|ParityCommand|ProfileCheckCommand|Qualify|Durability)\.'
}

units() {
  local folder=$root/build-asan name
  configure asan
  build "$folder" "${kUnits[@]}" "${kFuzzers[@]}" "${kFuzzers[@]/%/_replay}"
  for name in "${kUnits[@]}"; do
    LLVM_PROFILE_FILE=/dev/null "$folder/bin/$name" --gtest_brief=1
  done
}

address() {
  local folder=$root/build-asan
  configure asan
  build "$folder" "${kAddress[@]}" "${kFuzzers[@]}" "${kFuzzers[@]/%/_replay}"
  rm -rf "$folder/profiles"
  mkdir "$folder/profiles"
  # One file a program and one of a few places: processes that end at once add up in it.
  LLVM_PROFILE_FILE="$folder/profiles/%m-%4m.profraw" run_tests "$folder"
}

thread() {
  configure tsan
  build "$root/build-tsan" "${kThread[@]}"
  run_tests "$root/build-tsan"
}

main() {
  local kind
  if (($# == 0)); then set -- address thread; fi
  for kind in "$@"; do
    [[ $kind =~ ^(units|address|thread)$ ]] || die "$kind: not known; expected units, address or thread"
  done
  for kind in "$@"; do
    "$kind"
  done
}

help_if_asked "$@"
main "$@"
