#!/usr/bin/env bash
# From a fresh machine to a verdict: installs what is missing, builds, and qualifies the best device.
#
#   scripts/qualify.sh [SCENARIO] [option of `branchmark qualify`...]
#
# The scenario, unless named: qualify-9b on a CUDA device that can run it, else qualify-4b, else smoke, which a
# CPU runs too. Exit code, verdict and report are those of `branchmark qualify`.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

readonly kBuild=$root/build
readonly kApp=$kBuild/bin/branchmark
readonly kNotEligible=4

compile() {
  local cuda
  mapfile -t cuda < <(cuda_arguments "$(gpu_architectures)")
  configure release "${cuda[@]}"
  build "$kBuild" branchmark_app
}

# chosen_device OPTION...: the device that the options name, else cuda.
chosen_device() {
  local device=cuda
  while (($# > 0)); do
    case $1 in
      --device) device=${2-} ;;
      --device=*) device=${1#*=} ;;
    esac
    shift
  done
  if [[ $device == auto ]]; then device=cuda; fi
  printf '%s\n' "$device"
}

# can_run SCENARIO DEVICE: whether the device is eligible and the model fits, as the tool sees it with the
# scenario's cheapest cases. Any other fault is left for the real run to show.
can_run() {
  local log code=0
  log=$(mktemp -d)
  "$kApp" qualify "$1" --device "$2" --level quick --filter '^refusals/' --no-cache --report "$log/report.json" \
    2>"$log/stderr" || code=$?
  if ((code == kNotEligible)); then say "$1 on $2: $(tail -n 1 "$log/stderr")"; fi
  rm -r "$log"
  ((code != kNotEligible))
}

# best_scenario OPTION...: the largest shipped one that the device can run.
best_scenario() {
  local device scenario
  device=$(chosen_device "$@")
  if [[ $device != cpu ]] && has_gpu; then
    for scenario in qualify-9b qualify-4b; do
      if can_run "$scenario" "$device"; then
        printf '%s\n' "$scenario"
        return
      fi
    done
  fi
  echo smoke
}

main() {
  local scenario
  setup build
  compile
  if (($# > 0)) && [[ $1 != -* ]]; then
    scenario=$1
    shift
  else
    scenario=$(best_scenario "$@")
  fi
  say "qualify $scenario"
  exec "$kApp" qualify "$scenario" "$@"
}

help_if_asked "$@"
main "$@"
