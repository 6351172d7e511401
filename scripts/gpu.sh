#!/usr/bin/env bash
# Builds, tests and qualifies on a machine with a GPU, and needs neither network nor package manager there.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'HELP'
scripts/gpu.sh [OPTION...] [[COMMAND:]SCENARIO...] [-- CMAKE_ARGUMENT...]

Builds branchmark with its CUDA module, runs what is asked for on the GPU, and ends with a table. A scenario is a
file or the name of a shipped one; COMMAND is qualify, unless named: scripts/gpu.sh qualify-4b bench:bench-4b

  --out DIR              where log.txt and the reports go, in place of older ones [gpu-out]
  --seconds S            the longest that any one step may take [600]
  --architectures LIST   for example "90a-real" [those of the GPUs here]
  --tests                also build the tests, run those that are not labelled slow, and those of the model on the GPU
  --fixtures DIR         also compare the checkpoints in DIR with their recorded outputs, on the GPU
  --sanitize             also run the operator cases, at level quick, under compute-sanitizer's memcheck, racecheck and
                         initcheck; the last two look at the module's own kernels alone
  --sanitize-filter RE   the cases that it runs over [^operators/]
  --level LEVEL          of the scenarios: quick, medium or long [medium]
  --help

Environment:
  BRANCHMARK_GIT_SHA, BRANCHMARK_GIT_DIRTY   the revision, and true or false, where the tree is a copy without .git
  CMAKE_PREFIX_PATH                          folders with libraries that the machine lacks (CLI11, fmt, nlohmann-json,
                                             with --tests also GoogleTest)

Exit code 0 where every step ended with 0, else 1. Steps after a failed build do not run.
HELP
}

out=gpu-out
seconds=600
architectures=""
tests=OFF
fixtures=""
sanitize=false
sanitize_filter=^operators/
level=medium
scenarios=()
cmake_arguments=()
readonly kBuild=$root/build-cuda
readonly kApp=$kBuild/bin/branchmark
table=()
failed=0

parse() {
  while (($# > 0)); do
    case $1 in
      --out) out=${2:?--out needs a folder} && shift ;;
      --seconds) seconds=${2:?--seconds needs a number} && shift ;;
      --architectures) architectures=${2:?--architectures needs a list} && shift ;;
      --tests) tests=ON ;;
      --fixtures) fixtures=${2:?--fixtures needs a folder} && shift ;;
      --sanitize) sanitize=true ;;
      --sanitize-filter) sanitize_filter=${2:?--sanitize-filter needs a regular expression} && shift ;;
      --level) level=${2:?--level needs a level} && shift ;;
      --help) usage && exit 0 ;;
      --) cmake_arguments=("${@:2}") && return ;;
      -*) die "$1: no such option; see scripts/gpu.sh --help" ;;
      *) scenarios+=("$1") ;;
    esac
    shift
  done
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--seconds $seconds: expected a whole number, 1 or more"
}

# note LINE...: on stderr and in the log.
note() {
  printf '%s\n' "$@" | tee -a "$out/log.txt" >&2
}

# run NAME COMMAND...: within the limit, everything said also into the log. Sets `code` and `took`.
run() {
  local name=$1 start=$SECONDS
  shift
  note "" "== $name: $*"
  set +e
  timeout --kill-after=20 "$seconds" "$@" 2>&1 | tee -a "$out/log.txt" >&2
  code=${PIPESTATUS[0]}
  set -e
  took=$((SECONDS - start))
  if ((code == 124 || code == 137)); then note "$name: stopped, not done within $seconds s"; fi
}

# run_reporting NAME COMMAND...: as run, of a command of branchmark, which leaves its report in NAME.json.
run_reporting() {
  rm -f "$out/$1.json"
  run "$@" --device cuda --report "$out/$1.json" --force
  local passed broken
  read -r passed broken < <(counts "$out/$1.json")
  row "$1" "$passed" "$broken"
}

# row NAME PASSED FAILED: a line of the table, with the last step's code and time.
row() {
  table+=("$(printf '%-28s %5d %8s %8s %9d' "$1" "$code" "$2" "$3" "$took")")
  if ((code != 0)); then failed=1; fi
}

# counts REPORT: how many of its cases passed, and how many neither passed nor were skipped.
counts() {
  python3 - "$1" 2>/dev/null <<'COUNT' || echo "- -"
import json, sys
outcomes = [case["outcome"] for case in json.load(open(sys.argv[1]))["cases"]]
passed = outcomes.count("pass")
print(passed, len(outcomes) - passed - outcomes.count("skipped"))
COUNT
}

finish() {
  printf '\n%-28s %5s %8s %8s %9s\n' step exit passed failed seconds
  printf '%s\n' "${table[@]}"
  exit "$failed"
}

compile() {
  local arguments
  [[ -n $architectures ]] || architectures=$(gpu_architectures)
  mapfile -t arguments < <(cuda_arguments "$architectures")
  ((${#arguments[@]} > 0)) || die "no nvcc found; put the CUDA toolkit's bin folder on PATH"
  arguments+=("-DBRANCHMARK_TESTS=$tests" "-DBRANCHMARK_GIT_SHA=${BRANCHMARK_GIT_SHA-}"
    "-DBRANCHMARK_GIT_DIRTY=${BRANCHMARK_GIT_DIRTY-}" "${cmake_arguments[@]}")
  run configure cmake -S "$root" --preset cuda "${arguments[@]}"
  row configure - -
  if ((code == 0)); then
    run build cmake --build "$kBuild" --parallel "$(num_jobs)"
    row build - -
  fi
  if ((code != 0)); then
    say "the build failed; nothing else was run; see $out/log.txt"
    finish
  fi
}

run_tests() {
  local ran broken
  run ctest ctest --test-dir "$kBuild" --output-on-failure --parallel "$(num_jobs)" --label-exclude slow
  read -r broken ran < <(sed -n 's/.* \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\).*/\1 \2/p' "$out/log.txt" | tail -n 1) ||
    broken=0 ran=0
  row ctest $((ran - broken)) "$broken"
}

# The model's tests once more, over the CUDA module.
run_model_tests() {
  local passed broken name
  for name in execution_test failures_test; do
    run "$name on cuda" env "BRANCHMARK_TEST_KERNELS=$kBuild/lib/branchmark/libbranchmark-kernels-cuda.so" \
      "$kBuild/bin/$name" --gtest_brief=1
    passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$out/log.txt" | tail -n 1)
    broken=$(sed -n 's/^ *\([0-9]*\) FAILED TESTS*$/\1/p' "$out/log.txt" | tail -n 1)
    row "$name on cuda" "${passed:--}" "$( ((code == 0)) && echo 0 || echo "${broken:--}")"
  done
}

run_fixtures() {
  run fixtures python3 "$root/scripts/check_fixtures.py" --branchmark "$kApp" --device cuda "$fixtures"
  row fixtures - -
}

# run_scenario [COMMAND:]SCENARIO
run_scenario() {
  local command=qualify scenario=$1 name
  if [[ $scenario =~ ^([a-z-]+):(.+)$ ]]; then
    command=${BASH_REMATCH[1]}
    scenario=${BASH_REMATCH[2]}
  fi
  name=$(basename "$scenario" .json)
  if [[ $name != "$command"* ]]; then name=$command-$name; fi
  run_reporting "$name" "$kApp" "$command" "$scenario" --level "$level"
}

# run_sanitizer TOOL [OPTION...]: the operator cases, on the smoke model, under one tool of compute-sanitizer.
run_sanitizer() {
  local sanitizer
  if ! sanitizer=$(first_of compute-sanitizer "$(dirname "$(command -v nvcc)")/compute-sanitizer"); then
    note "$1: no compute-sanitizer found; put it on PATH"
    code=127 took=0
    row "$1" - -
    return
  fi
  run_reporting "$1" "$sanitizer" --tool "$@" --target-processes all --error-exitcode 86 \
    "$kApp" qualify smoke --level quick --filter "$sanitize_filter" --no-cache --quiet
}

main() {
  parse "$@"
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  : >"$out/log.txt"
  if have nvidia-smi; then nvidia-smi >>"$out/log.txt" 2>&1 || say "nvidia-smi fails; see $out/log.txt"; fi
  compile
  if [[ $tests == ON ]]; then
    run_tests
    run_model_tests
  fi
  if [[ -n $fixtures ]]; then run_fixtures; fi
  local scenario
  for scenario in "${scenarios[@]}"; do
    run_scenario "$scenario"
  done
  if $sanitize; then
    run_sanitizer memcheck
    # cuBLASLt's kernels, of which the search for a class runs hundreds, take these tools many minutes.
    run_sanitizer racecheck --kernel-name kernel_substring=branchmark
    run_sanitizer initcheck --kernel-name kernel_substring=branchmark
  fi
  finish
}

main "$@"
