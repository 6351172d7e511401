#!/usr/bin/env bash
# Builds the host code with clang's sanitizers and runs tests under them. CI runs both kinds.
#
#   scripts/sanitize.sh [address] [thread]      default: both
#
#   address   addresses, leaks and undefined behaviour: unit tests and the command line (build-asan). It leaves the
#             lines that they ran in build-asan/profiles, for scripts/coverage.sh, and the fuzzers beside the tests.
#   thread    data races: what runs threads or processes (build-tsan)
#
# The script names what is left out, with the reasons. Float64 oracles and timing are not built: they take most of
# the time and call the same code.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kAddress=(trust_cli_test cli_test execution_test cpu_module_test model_test report_test page_test base_test
  scenario_test prefix_tree_test worker_messages_test)
readonly kFuzzers=(scenario_fuzzer checkpoint_fuzzer report_fuzzer)
# The programs for `thread`, and of their tests: the pool of threads of the CPU module, contexts in threads of
# their own, threads that write one file, the supervisor and its worker.
readonly kThread=(trust_cli_test execution_test cpu_module_test report_test)
readonly kThreaded=('Cpu*.*' 'Isolation.K32*' 'Isolation.ThreadCounts*' 'OutputFileTest.*' 'Signals.*' 'Worker.*')

# Not under a sanitizer:
readonly kLeftOut=(
  # Sweeps, and whole runs time after time: minutes each, of code that shorter tests run as well.
  'Continuation.K01EveryCut*' 'Continuation.K01EveryWindow*' 'CpuGemm.EveryAlgorithm*' 'CpuGemm.DescribesItself'
  'Digests.DoNotDependOn*' 'Durability.K44*' 'Durability.TheSameInputs*' 'Each/Faults.*' 'FailingCall.*'
  'ParityCommand.*' 'ProfileCheckCommand.*'
  # Time and memory are what they measure.
  'Plan.AThousandLongPrompts*' 'ReportCommand.RebuildsALongJournal*'
  # A limit on memory leaves no room for the sanitizer's own; one on files, none for its check of virtual tables.
  'ReportCommand.K48ADeviceWithoutEnd*' 'ExitCodes.EveryRowIsReached' 'Worker.AFaultOfTheSupervisorIs70'
)
# Run without line counts, as those would meet the limit on the size of files.
readonly kLimited=('Durability.K43AFileSizeLimit*')

# A program's tests are dealt out to so many processes, so that no core waits long for the last.
readonly kShards=4
readonly kTimeLimit=15m

# The command line's tests end it by signals, which the sanitizers must leave alone.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:handle_segv=0
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:handle_segv=0
symbolizer=$(first_of llvm-symbolizer-16 llvm-symbolizer || true)
export ASAN_SYMBOLIZER_PATH=$symbolizer TSAN_SYMBOLIZER_PATH=$symbolizer

# patterns PATTERN...: as a filter of GoogleTest.
patterns() {
  local IFS=:
  printf '%s' "$*"
}

# run_shard FILTER PROGRAM SHARD: what it printed is shown where something failed, in one piece.
run_shard() {
  local log code=0 name
  name="$(basename "$2") $(($3 + 1))/$kShards"
  log=$(mktemp)
  GTEST_TOTAL_SHARDS=$kShards GTEST_SHARD_INDEX=$3 timeout "$kTimeLimit" "$2" --gtest_brief=1 --gtest_filter="$1" \
    >"$log" 2>&1 || code=$?
  if ((code == 0)); then
    say "$name: $(grep -o '[0-9]* tests\{0,1\} from.*' "$log")"
  else
    tail -n 500 "$log" >&2
    say "FAILED: $name, exit code $code"
  fi
  rm "$log"
  return "$code"
}
export -f run_shard say
export kShards kTimeLimit

# run_tests FOLDER FILTER PROGRAM...: as many processes at once as there are cores.
run_tests() {
  local folder=$1 filter=$2 program shard
  shift 2
  for program in "$@"; do
    for ((shard = 0; shard < kShards; ++shard)); do printf '%s\0' "$folder/bin/$program" "$shard"; done
  done | xargs -0 -n 2 -P "$(num_jobs)" bash -c 'run_shard "$@"' bash "$filter"
}

address() {
  local folder=$root/build-asan
  configure asan
  build "$folder" "${kAddress[@]}" "${kFuzzers[@]}"
  rm -rf "$folder/profiles"
  mkdir "$folder/profiles"
  # One file a program, in which processes add up; two of each, as two processes end at once.
  LLVM_PROFILE_FILE="$folder/profiles/%2m.profraw" run_tests "$folder" \
    "-$(patterns "${kLeftOut[@]}" "${kLimited[@]}")" "${kAddress[@]}"
  LLVM_PROFILE_FILE=/dev/null run_tests "$folder" "$(patterns "${kLimited[@]}")-$(patterns "${kLeftOut[@]}")" \
    trust_cli_test
}

thread() {
  local folder=$root/build-tsan
  configure tsan
  build "$folder" "${kThread[@]}"
  run_tests "$folder" "$(patterns "${kThreaded[@]}")-$(patterns "${kLeftOut[@]}")" "${kThread[@]}"
}

main() {
  local kind
  if (($# == 0)); then set -- address thread; fi
  for kind in "$@"; do
    [[ $kind =~ ^(address|thread)$ ]] || die "$kind: not known; expected address or thread"
  done
  for kind in "$@"; do
    "$kind"
  done
}

help_if_asked "$@"
main "$@"
