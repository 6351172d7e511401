#!/usr/bin/env bash
# Runs clang-tidy, as .clang-tidy says, over host sources, each as a file of its own.
#
#   scripts/lint.sh [--build DIR] [--all | PATH...]
#
#   (default)    files that the last commit changed, or that differ from it
#   --all        every host source of the build; about a quarter of an hour on 2 cores
#   PATH         files, or folders and all below them, as seen from the root
#   --build DIR  a configured folder without BRANCHMARK_UNITY [build-dev, which is configured as the preset dev says]
#
# CLANG_TIDY names another binary than clang-tidy-16.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# The build's compile commands without what clang refuses, precompiled headers of g++ among it.
write_commands() {
  local commands=$1/compile_commands.json
  [[ -f $commands ]] || die "$commands: not found; name a configured folder with --build"
  sed -e 's/ -fno-gnu-unique//g' -e 's/ -Winvalid-pch//g' -e 's/ -include [^ ]*cmake_pch\.hxx//g' "$commands" \
    >"$scratch/compile_commands.json"
}

# Host sources of the build, each once, relative to the root.
all_files() {
  sed -n 's/^ *"file": "\(.*\.cpp\)",\{0,1\}$/\1/p' "$scratch/compile_commands.json" | sort -u | while read -r file; do
    if [[ $file == "$root"/* && $file != */CMakeFiles/* ]]; then printf '%s\n' "${file#"$root"/}"; fi
  done
}

# Those of them that the last commit changed, or that differ from it.
changed_files() {
  {
    git -C "$root" diff --name-only --diff-filter=d HEAD
    git -C "$root" ls-files --others --exclude-standard
    git -C "$root" diff-tree --no-commit-id --name-only --diff-filter=d -r --root HEAD
  } 2>/dev/null | sort -u | grep -Fxf <(all_files) || true
}

# Those of them that the paths name or hold.
files_below() {
  local path
  for path in "$@"; do
    all_files | awk -v path="${path%/}" '$0 == path || index($0, path "/") == 1' | grep . ||
      die "$path: no host source of this build"
  done
}

lint() {
  local tidy
  tidy=$(first_of "${CLANG_TIDY:-clang-tidy-16}") ||
    die "${CLANG_TIDY:-clang-tidy-16}: not found; install clang-tidy-16 (scripts/setup.sh lint)"
  say "$# files"
  (($# == 0)) || (cd "$root" && printf '%s\0' "$@" |
    xargs -0 -n 1 -P "$(num_jobs)" "$tidy" -p "$scratch" --quiet --warnings-as-errors='*' \
      --extra-arg=-Wno-unknown-warning-option 2> >(grep -v '^[0-9]* warnings\{0,1\} .*generated\.$' >&2))
}

# Commands of each file, and the sources that a build writes.
prepare() {
  configure dev
  build "$root/build-dev" branchmark_revision branchmark_scenarios
}

main() {
  local folder="" choice=changed paths=() found files
  while (($# > 0)); do
    case $1 in
      --build) folder=${2:?--build needs a folder} && shift ;;
      --all) choice=all ;;
      -*) die "$1: no such option; see scripts/lint.sh --help" ;;
      *) choice=named paths+=("$1") ;;
    esac
    shift
  done
  if [[ -z $folder ]]; then
    folder=$root/build-dev
    prepare
  fi
  write_commands "$folder"
  case $choice in
    all) found=$(all_files) ;;
    changed) found=$(changed_files) ;;
    named) found=$(files_below "${paths[@]}") ;;
  esac
  mapfile -t files < <(printf '%s' "$found")
  lint "${files[@]}"
}

help_if_asked "$@"
main "$@"
