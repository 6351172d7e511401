#include "entry/host.hpp"

#include <unistd.h>

#include <fstream>

namespace branchmark::cpu {
namespace {

// The text after "key ... :" on the first line that begins with the key; empty where there is none.
std::string value_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

int64_t positive_or_unknown(int64_t value) {
  return value > 0 ? value : -1;
}

int64_t bytes_of_pages(int name) {
  const int64_t pages = sysconf(name);
  return pages > 0 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

}  // namespace

std::string processor_name() {
  const std::string name = value_of("/proc/cpuinfo", "model name");
  return name.empty() ? architecture() : name;
}

const char* architecture() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "";
#endif
}

int64_t hardware_threads() {
  return positive_or_unknown(sysconf(_SC_NPROCESSORS_ONLN));
}

int64_t second_level_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return positive_or_unknown(sysconf(_SC_LEVEL2_CACHE_SIZE));
#else
  return -1;
#endif
}

int64_t total_memory_bytes() {
  return bytes_of_pages(_SC_PHYS_PAGES);
}

// Free pages leave out what the page cache would give back; the kernel's own estimate does not.
int64_t available_memory_bytes() {
  const std::string kibibytes = value_of("/proc/meminfo", "MemAvailable");
  if (!kibibytes.empty()) return std::strtoll(kibibytes.c_str(), nullptr, 10) * 1024;
  return bytes_of_pages(_SC_AVPHYS_PAGES);
}

}  // namespace branchmark::cpu
