#!/usr/bin/env bash
# Runs the fuzzers of tests/fuzz, one after the other, with address and undefined-behaviour sanitizers.
#
#   scripts/fuzz.sh [--minutes M | --seconds S] [--jobs N] [--build DIR] [FUZZER...]
#
#   --minutes M    each runs so long [10]
#   --seconds S    likewise
#   --jobs N       so many of them at once [1]
#   --build DIR    an existing build as the preset asan says; without it, build-asan is configured and built
#   FUZZER         scenario_fuzzer, checkpoint_fuzzer, report_fuzzer [all]
#
# A crash, a sanitizer's report, an input that takes longer than 10 s or more than 2 GiB ends the run with exit
# code 1 and leaves the input in fuzz-out; build-asan/bin/FUZZER FILE runs it again. What was found becomes a fix, a
# test, and a file in tests/fuzz/corpus.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kFuzzers=(scenario_fuzzer checkpoint_fuzzer report_fuzzer)
readonly kFound=$root/fuzz-out
readonly kOptions=(-timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1)

seconds=600
jobs=1
folder=""
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# corpora FUZZER: the folders that it starts from, its own first.
corpora() {
  cat "$folder/bin/$1.corpus"
}

# fuzz FUZZER: what it adds goes into a folder of the run's own, so that the corpus in the tree stays as it is.
fuzz() {
  local name=$1 known
  mapfile -t known < <(corpora "$name")
  mkdir -p "$scratch/$name"
  LLVM_PROFILE_FILE=/dev/null "$folder/bin/$name" "${kOptions[@]}" -max_total_time="$seconds" \
    -artifact_prefix="$kFound/$name-" "$scratch/$name" "${known[@]}" >"$scratch/$name.log" 2>&1 && return
  tail -n 60 "$scratch/$name.log" >&2
  return 1
}

# finish NAME PID: waits for a run and says what came of it.
finish() {
  local name=$1 executed
  if wait "$2"; then
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$name.log")
    [[ -n $executed ]] || die "$name: ended without its statistics; see the end of its output: $(tail -n 3 "$scratch/$name.log")"
    say "$name: $executed inputs in $seconds s, nothing found"
  else
    say "$name: found something; its input is in $kFound"
    failed=1
  fi
}

main() {
  local fuzzers=() name failed=0 running=()
  while (($# > 0)); do
    case $1 in
      --minutes) seconds=$((60 * ${2:?--minutes needs a number})) && shift ;;
      --seconds) seconds=${2:?--seconds needs a number} && shift ;;
      --jobs) jobs=${2:?--jobs needs a number} && shift ;;
      --build) folder=${2:?--build needs a folder} && shift ;;
      -*) die "$1: no such option; see scripts/fuzz.sh --help" ;;
      *) fuzzers+=("$1") ;;
    esac
    shift
  done
  if ((${#fuzzers[@]} == 0)); then fuzzers=("${kFuzzers[@]}"); fi
  if [[ -z $folder ]]; then
    folder=$root/build-asan
    configure asan
    build "$folder" "${fuzzers[@]}"
  fi
  mkdir -p "$kFound"
  for name in "${fuzzers[@]}"; do
    [[ -x $folder/bin/$name ]] || die "$folder/bin/$name: not found; known are ${kFuzzers[*]}, built as the preset asan says"
    fuzz "$name" &
    running+=("$name" "$!")
    if ((${#running[@]} == 2 * jobs)); then
      finish "${running[@]:0:2}"
      running=("${running[@]:2}")
    fi
  done
  while ((${#running[@]} > 0)); do
    finish "${running[@]:0:2}"
    running=("${running[@]:2}")
  done
  rmdir "$kFound" 2>/dev/null || true
  ((failed == 0)) || die "a fuzzer found something"
}

help_if_asked "$@"
main "$@"
