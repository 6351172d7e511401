#!/usr/bin/env bash
# Installs what this machine lacks, on Debian 12, Ubuntu 24.04 or later, as root or with sudo:
#
#   scripts/setup.sh [build] [test] [lint] [sanitize]      default: build
#
#   build     compiler, CMake, Ninja, git and the libraries of the product (Google Benchmark among them)
#   test      also GoogleTest, a BLAS to compare with, Python with jsonschema, and a locale whose numbers have a
#             decimal comma
#   lint      also clang-format 14 and clang-tidy 16
#   sanitize  also clang 16 with its sanitizers, its fuzzer and llvm-cov
#
# What is there already is not touched, and where nothing lacks, no network is needed.
# qualify.sh and test.sh source this file and call `setup`.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kLeastCmake=3.25
readonly kClangFormat=clang-format-14
readonly kClangTidy=clang-tidy-16
readonly kClang=clang++-16
readonly kCommaLocale=de_DE.UTF-8

# at_least VERSION LEAST: whether a dotted version is no older than another.
at_least() {
  [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

cmake_version() {
  cmake --version 2>/dev/null | awk 'NR == 1 {print $3}'
}

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# A python3 that has jsonschema: the first on PATH, or else the system's.
find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -W ignore -c 'import jsonschema' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# missing_packages SET...: the packages of the sets that this machine lacks. A tool counts as there whatever
# package it came with.
missing_packages() {
  local set
  for set in "$@"; do
    case $set in
      build)
        have g++ || echo g++
        { have cmake && at_least "$(cmake_version)" "$kLeastCmake"; } || echo cmake
        have ninja || echo ninja-build
        have git || echo git
        missing_libraries libbenchmark-dev libcli11-dev libfmt-dev nlohmann-json3-dev
        ;;
      test)
        missing_libraries libgtest-dev libgmock-dev libopenblas-dev
        find_python >/dev/null || printf '%s\n' python3 python3-jsonschema
        have xmllint || echo libxml2-utils
        { has_comma_locale || ! may_become_root; } || missing_libraries locales
        ;;
      lint)
        have "$kClangFormat" || echo "$kClangFormat"
        have "$kClangTidy" || echo "$kClangTidy"
        ;;
      sanitize)
        have "$kClang" || echo clang-16
        have llvm-cov-16 || echo llvm-16
        missing_libraries libclang-rt-16-dev
        ;;
    esac
  done
}

has_comma_locale() {
  locale -a 2>/dev/null | grep -qix 'de_DE\.utf-\{0,1\}8'
}

# What the package holds is the source of locales; this one is made of it.
make_comma_locale() {
  if has_comma_locale; then return; fi
  say "making the locale $kCommaLocale"
  as_root localedef --no-archive -i "${kCommaLocale%.*}" -f "${kCommaLocale#*.}" "$kCommaLocale" ||
    say "$kCommaLocale could not be made; the test that needs it will be skipped"
}

missing_libraries() {
  local package
  for package in "$@"; do
    is_installed "$package" || echo "$package"
  done
}

# as_root COMMAND...: sudo asks for a password only where someone can answer.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

may_become_root() {
  ((EUID == 0)) || { have sudo && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; }
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" >&2
}

update_lists() {
  local update=(update -o APT::Update::Error-Mode=any)
  apt_get "${update[@]}" && return
  say "apt-get update failed; once more in 5 seconds"
  sleep 5
  apt_get "${update[@]}" || say "apt-get update failed again; going on with the package lists at hand"
}

install_packages() {
  local packages=("$@")
  have apt-get || die "not a Debian or Ubuntu system; install what these packages hold: ${packages[*]}"
  may_become_root || die "missing packages: ${packages[*]}; install them as root, or give this user sudo"
  say "installing ${packages[*]}"
  update_lists
  apt_get install -y --no-install-recommends "${packages[@]}" || die "apt-get could not install ${packages[*]}"
}

# setup SET...: afterwards, everything in the sets is there.
setup() {
  local set packages
  for set in "$@"; do
    [[ $set =~ ^(build|test|lint|sanitize)$ ]] ||
      die "$set: no such set of packages; expected build, test, lint or sanitize"
  done
  mapfile -t packages < <(missing_packages "$@")
  ((${#packages[@]} == 0)) || install_packages "${packages[@]}"
  if [[ " $* " == *" test "* ]]; then make_comma_locale; fi
  at_least "$(cmake_version)" "$kLeastCmake" ||
    die "CMake $(cmake_version) found, $kLeastCmake or later needed (Debian 12 and Ubuntu 24.04 have one)"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  help_if_asked "$@"
  if (($# == 0)); then set -- build; fi
  setup "$@"
  say "nothing is missing for: $*"
fi
