# shellcheck shell=bash
# Sourced by the other scripts: messages, and what this machine offers to a build.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
  printf '%s\n' "$*" >&2
}

die() {
  say "error: $*"
  exit 1
}

# Prints the comment at the head of the running script and ends it, where the first argument asks for help.
help_if_asked() {
  if [[ ${1-} == --help || ${1-} == -h ]]; then
    sed -n '2,/^[^#]*$/ s/^# \{0,1\}//p' "$0"
    exit 0
  fi
}

# have COMMAND: whether it can be run.
have() {
  command -v "$1" >/dev/null 2>&1
}

# The first of the commands that exists; fails where none does.
first_of() {
  local candidate
  for candidate in "$@"; do
    if have "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# Memory that this process may still take, in MiB: the machine's, or what its control group leaves of it.
available_mib() {
  local available limit used
  available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  if limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) && [[ $limit != max ]]; then
    used=$(cat /sys/fs/cgroup/memory.current)
    limit=$(((limit - used) / 1048576))
    if ((limit < available)); then available=$limit; fi
  fi
  printf '%s\n' "$available"
}

# Compilers to run at once: one a core, and no more than memory bears (the largest take about 1.5 GiB each).
num_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(($(available_mib) / 1536))
  if ((by_memory < 1)); then by_memory=1; fi
  printf '%s\n' "$((cores < by_memory ? cores : by_memory))"
}

has_gpu() {
  [[ -e /dev/nvidiactl || -e /dev/dxg ]]
}

# A CUDA compiler may lie in its usual place and not on PATH.
if ! have nvcc && [[ -x /usr/local/cuda/bin/nvcc ]]; then
  export PATH=$PATH:/usr/local/cuda/bin
fi

# CMake's names of the GPUs in this machine, as far as module and compiler know them ("90a-real;89-real"); empty
# where there are none, which leaves the choice to CMake.
gpu_architectures() {
  have nvidia-smi && have nvcc || return 0
  local known capability number names=""
  known=$(nvcc --list-gpu-code)
  for capability in $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -u); do
    number=${capability/./}
    if ! [[ $number =~ ^[0-9]+$ ]] || ((number < 80)) || ! grep -qx "sm_$number" <<<"$known"; then continue; fi
    # 90a has instructions that plain 90 lacks.
    if ((number == 90)); then number=90a; fi
    names+="${names:+;}$number-real"
  done
  printf '%s\n' "$names"
}

# cuda_arguments ARCHITECTURES: what CMake is told of CUDA, one argument a line; nothing without a compiler, and
# no architectures where they are empty. The compiler is named each time, because CMake remembers that it once
# found none.
cuda_arguments() {
  have nvcc || return 0
  printf '%s\n' "-DCMAKE_CUDA_COMPILER=$(command -v nvcc)"
  if [[ -n $1 ]]; then printf '%s\n' "-DCMAKE_CUDA_ARCHITECTURES=$1"; fi
}

# configure PRESET [ARGUMENT...]: a build folder as CMakePresets.json says, then as the arguments say.
configure() {
  (cd "$root" && cmake --preset "$@" >&2)
}

# build FOLDER [TARGET...]: everything, or the targets.
build() {
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$(num_jobs)" ${1:+--target "$@"} >&2
}

# sources EXTENSIONS: every source file with one of them ("cpp|hpp").
sources() {
  find "$root"/{apps,kernels,lib,tests} -type f -regextype posix-extended -regex ".*\.($1)" | sort
}
