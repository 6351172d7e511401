#!/usr/bin/env bash
# Runs clang-tidy, as .clang-tidy says, over host sources of a build.
#
#   scripts/lint.sh [--build DIR] [--all | --sample N | FILE...]
#
#   (default)    files that differ from the last commit, and those that it changed
#   --all        every host source of the build; takes the better part of an hour on 2 cores
#   --sample N   N of them: first those that the last commit changed, then others, drawn by its revision
#   --build DIR  a build folder made with g++ or clang [build]
#
# CLANG_TIDY names another binary than clang-tidy-16.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# The build's compile commands without what only g++ knows.
write_commands() {
  local commands=$1/compile_commands.json
  [[ -f $commands ]] || die "$commands: not found; configure a build first, or name its folder with --build"
  sed 's/ -fno-gnu-unique//g' "$commands" >"$scratch/compile_commands.json"
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

# All of them, the changed ones first, in an order that the last commit's revision draws, the same on every machine.
drawn_files() {
  local revision order
  revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo none)
  order=$(all_files | while read -r file; do
    printf '%s %s\n' "$(printf '%s %s' "$revision" "$file" | sha256sum)" "$file"
  done | sort | awk '{print $NF}')
  grep -Fxf <(changed_files) <<<"$order" || true
  grep -vFxf <(changed_files) <<<"$order" || true
}

lint() {
  local tidy
  tidy=$(first_of "${CLANG_TIDY:-clang-tidy-16}") ||
    die "${CLANG_TIDY:-clang-tidy-16}: not found; install clang-tidy-16 (scripts/setup.sh lint)"
  say "$# files"
  (($# == 0)) || (cd "$root" && printf '%s\0' "$@" |
    xargs -0 -n 1 -P "$(num_jobs)" "$tidy" -p "$scratch" --quiet --warnings-as-errors='*' \
      2> >(grep -v '^[0-9]* warnings\{0,1\} .*generated\.$' >&2))
}

main() {
  local folder=$root/build choice=changed sample=0 files=()
  while (($# > 0)); do
    case $1 in
      --build) folder=${2:?--build needs a folder} && shift ;;
      --all) choice=all ;;
      --sample) choice=sample sample=${2:?--sample needs a number} && shift ;;
      -*) die "$1: no such option; see the head of scripts/lint.sh" ;;
      *) choice=named files+=("$1") ;;
    esac
    shift
  done
  write_commands "$folder"
  case $choice in
    all) mapfile -t files < <(all_files) ;;
    changed) mapfile -t files < <(changed_files) ;;
    sample) mapfile -t files < <(drawn_files | head -n "$sample") ;;
  esac
  lint "${files[@]}"
}

main "$@"
