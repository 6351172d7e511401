#!/usr/bin/env bash
# From a fresh machine to every test that it can run: installs what is missing, builds tests and benchmarks, and
# runs schema check, recorded outputs, format check, lint and ctest.
#
#   scripts/test.sh [--fixtures FOLDER] [--sanitize]
#
#   --fixtures FOLDER   also compares with the recorded outputs of every checkpoint in this folder
#   --sanitize          also installs clang 16, builds twice more, and runs tests under sanitizers, the check of line
#                       coverage, and each fuzzer for 20 seconds
#
# Environment: BRANCHMARK_WERROR=ON makes warnings errors. CI=true builds as the preset ci says, in build-ci, and
# installs the tools of the format check and the lint, which otherwise run where they are; it implies --sanitize.
# Exit code 0 where every step passed or was skipped with a reason, else 1.

# Steps are called by name, which shellcheck does not see.
# shellcheck disable=SC2317
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

readonly kSkipped=77
# What a run of test.sh lints: the parts that everything stands on. All of it would take longer than all else.
readonly kLinted=(lib/branchmark/base lib/branchmark/device kernels/cpu/entry kernels/cpu/gemm)

folder=$root/build
sanitize=false
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
fixtures=("$root/tests/data")
summary=()
failed=()

in_ci() {
  [[ ${CI-} == true ]]
}

# step NAME FUNCTION: runs it, times it and keeps its outcome for the summary.
step() {
  local name=$1 code=0 outcome=passed start=$SECONDS
  say $'\n'"== $name"
  set +e
  (set -e; "$2")
  code=$?
  set -e
  if ((code == kSkipped)); then
    outcome=skipped
  elif ((code != 0)); then
    outcome=FAILED
    failed+=("$name")
  fi
  summary+=("$(printf '  %-18s %-8s %5d s' "$name" "$outcome" $((SECONDS - start)))")
}

# needed_step NAME FUNCTION: a step without which there is nothing to go on with.
needed_step() {
  step "$@"
  ((${#failed[@]} == 0)) || finish
}

finish() {
  printf '%s\n' "" "test.sh:" "${summary[@]}"
  ((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
  exit 0
}

skip() {
  say "skipped: $*"
  exit "$kSkipped"
}

step_setup() {
  setup build test
  if in_ci; then setup lint; fi
  if $sanitize; then setup sanitize; fi
}

step_configure() {
  local arguments=(-DBRANCHMARK_TESTS=ON -DBRANCHMARK_BENCHMARKS=ON "-DBRANCHMARK_WERROR=${BRANCHMARK_WERROR:-OFF}") cuda
  if in_ci; then
    mapfile -t cuda < <(cuda_arguments "")
    configure ci "${cuda[@]}"
  else
    mapfile -t cuda < <(cuda_arguments "$(gpu_architectures)")
    configure release "${arguments[@]}" "${cuda[@]}"
  fi
}

step_build() {
  build "$folder"
}

step_smoke() {
  "$folder/bin/branchmark" qualify smoke --device cpu --quiet --report "$scratch/smoke.json"
}

step_schemas() {
  "$(find_python)" "$root/scripts/check_schemas.py" --report "$scratch/smoke.json" --journal "$scratch/smoke.journal.jsonl"
}

step_fixtures() {
  "$(find_python)" "$root/scripts/check_fixtures.py" --branchmark "$folder/bin/branchmark" --device cpu "${fixtures[@]}"
}

step_format() {
  have "$kClangFormat" || skip "$kClangFormat is not installed (scripts/setup.sh lint)"
  "$root/scripts/format.sh" --check
}

step_lint() {
  have "$kClangTidy" || skip "$kClangTidy is not installed (scripts/setup.sh lint)"
  "$root/scripts/lint.sh" "${kLinted[@]}"
}

step_ctest() {
  # Tests with the label browser need Chromium, and look at pages alone: ctest --test-dir build --label-regex browser
  ctest --test-dir "$folder" --output-on-failure --parallel "$(num_jobs)" --label-exclude browser
}

require_sanitize() {
  $sanitize || skip "only with --sanitize, which test.sh --help describes"
}

step_address() {
  require_sanitize
  "$root/scripts/sanitize.sh" address
}

# Nothing to count or fuzz with where the build failed, which is said there.
require_address() {
  require_sanitize
  [[ " ${failed[*]-} " != *" address "* ]] || skip "the step address failed"
}

step_coverage() {
  require_address
  "$root/scripts/coverage.sh"
}

step_fuzz() {
  require_address
  "$root/scripts/fuzz.sh" --build "$root/build-asan" --seconds 20 --jobs "$(num_jobs)"
}

step_thread() {
  require_sanitize
  "$root/scripts/sanitize.sh" thread
}

main() {
  while (($# > 0)); do
    case $1 in
      --fixtures) fixtures+=("${2:?--fixtures needs a folder}") && shift ;;
      --sanitize) sanitize=true ;;
      *) die "$1: no such option; see scripts/test.sh --help" ;;
    esac
    shift
  done
  if in_ci; then
    folder=$root/build-ci
    sanitize=true
  fi
  needed_step setup step_setup
  needed_step configure step_configure
  needed_step build step_build
  step "qualify smoke" step_smoke
  step schemas step_schemas
  step fixtures step_fixtures
  step format step_format
  step lint step_lint
  step ctest step_ctest
  step address step_address
  step coverage step_coverage
  step fuzz step_fuzz
  step thread step_thread
  finish
}

help_if_asked "$@"
main "$@"
