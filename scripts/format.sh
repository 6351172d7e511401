#!/usr/bin/env bash
# Lays out the C, C++ and CUDA sources as .clang-format says, or finds what is not so.
#
#   scripts/format.sh [--check] [FILE...]      default: every source in the tree
#
# Other versions of clang-format break lines elsewhere, so it must be version 14; CLANG_FORMAT names another binary.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kVersion=14
# The ABI header is laid out by hand: its comments are tables.
readonly kByHand=kernels/include/branchmark/kernels.h

find_formatter() {
  local formatter
  formatter=${CLANG_FORMAT:-$(first_of "clang-format-$kVersion" clang-format)} ||
    die "no clang-format found; install clang-format-$kVersion (scripts/setup.sh lint)"
  "$formatter" --version | grep -q "version $kVersion\." ||
    die "$formatter is not version $kVersion; install clang-format-$kVersion (scripts/setup.sh lint)"
  printf '%s\n' "$formatter"
}

# check FORMATTER FILE...: names each file that is not so, and fails where there is one.
check() {
  local said files
  said=$("$1" --dry-run -Werror "${@:2}" 2>&1) && return
  files=$(sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<<"$said" | sort -u)
  say "${files:-$said}"
  die "not as .clang-format says; scripts/format.sh lays them out"
}

main() {
  local formatter check_only=false files
  formatter=$(find_formatter)
  if [[ ${1-} == --check ]]; then
    check_only=true
    shift
  fi
  files=("$@")
  if ((${#files[@]} == 0)); then mapfile -t files < <(sources 'c|cc|cpp|hpp|h|cu|cuh' | grep -vF "$kByHand"); fi
  if $check_only; then check "$formatter" "${files[@]}"; else "$formatter" -i "${files[@]}"; fi
  say "${#files[@]} files looked at"
}

help_if_asked "$@"
main "$@"
