#!/usr/bin/env bash
# Says how many lines of each layer the tests run, and fails where a file of base, scenario or report is below
# the bound.
#
#   scripts/coverage.sh [--build DIR] [--all]
#
#   --build DIR   a build as the preset asan says whose tests have run (scripts/sanitize.sh address) [build-asan]
#   --all         a line for every file of the library, not for every layer
#
# The lines are those that the tests of that build ran; the bound is 80 %.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kLeastPercent=80
folder=$root/build-asan
all=false

# The counts of every process of the tests, one JSON summary of llvm-cov.
summary() {
  local profdata cov raw=("$folder"/profiles/*.profraw) binaries=() binary
  profdata=$(first_of llvm-profdata-16) || die "llvm-profdata-16: not found; install llvm-16 (scripts/setup.sh sanitize)"
  cov=$(first_of llvm-cov-16) || die "llvm-cov-16: not found; install llvm-16 (scripts/setup.sh sanitize)"
  [[ -e ${raw[0]} ]] || die "$folder/profiles: holds no counts; run scripts/sanitize.sh address first"
  "$profdata" merge --sparse --failure-mode=all -o "$folder/profiles/merged.profdata" "${raw[@]}"
  for binary in "$folder"/bin/*_test "$folder/bin/branchmark"; do
    if [[ -x $binary ]]; then binaries+=(--object "$binary"); fi
  done
  "$cov" export --summary-only --instr-profile "$folder/profiles/merged.profdata" "${binaries[@]:1}" \
    "$root/lib/branchmark"
}

# report FILE: the table of a summary, and what is below the bound.
report() {
  python3 - "$1" "$root/lib/branchmark/" "$kLeastPercent" "$all" <<'REPORT'
import collections, json, sys

lib, least, every_file = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "true"
bounded = ("base", "scenario", "report")
files = {}
for file in json.load(open(sys.argv[1]))["data"][0]["files"]:
    if file["filename"].startswith(lib):
        lines = file["summary"]["lines"]
        files[file["filename"][len(lib):]] = (lines["covered"], lines["count"])

def percent(covered, count):
    return 100 * covered / count if count else 100

layers = collections.defaultdict(list)
for name, counts in files.items():
    layers[name.split("/")[0]].append((percent(*counts), name, *counts))
missing = [layer for layer in bounded if not layers[layer]]
if missing:
    sys.exit(f"error: no counts for {', '.join(missing)}; were their tests built and run?")
print(f"{'layer':<12} {'lines':>6} {'run':>6}   least")
for layer, rows in sorted(layers.items()):
    worst = min(rows)
    total = percent(sum(row[2] for row in rows), sum(row[3] for row in rows))
    print(f"{layer:<12} {sum(row[3] for row in rows):>6} {total:>5.1f}%   {worst[1]} {worst[0]:.1f}%")
    if every_file:
        for row in sorted(rows):
            print(f"  {row[1]:<40} {row[3]:>5} {row[0]:>5.1f}%")
below = [row for layer in bounded for row in sorted(layers[layer]) if row[0] < least]
for row in below:
    print(f"error: {row[1]}: {row[2]} of {row[3]} lines run, {row[0]:.1f}%, expected at least {least}%", file=sys.stderr)
sys.exit(1 if below else 0)
REPORT
}

main() {
  while (($# > 0)); do
    case $1 in
      --build) folder=$(cd "${2:?--build needs a folder}" && pwd) && shift ;;
      --all) all=true ;;
      *) die "$1: no such option; see scripts/coverage.sh --help" ;;
    esac
    shift
  done
  summary >"$folder/profiles/summary.json"
  report "$folder/profiles/summary.json"
}

help_if_asked "$@"
main "$@"
