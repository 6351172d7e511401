#include "branchmark/report/host.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>

extern char** environ;

namespace branchmark {
namespace {

// Families by prefix, others by name: products and libraries that choose kernels or precision, numbers of
// threads and their places, and the variants of libm that the loader picks.
constexpr std::array<std::string_view, 9> kPrefixes = {"CUBLAS", "CUDA_", "CUDNN_", "OMP_",       "GOMP_",
                                                       "KMP_",   "MKL_",  "NCCL_",  "BRANCHMARK_"};
constexpr std::array<std::string_view, 5> kNames = {"NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES",
                                                    "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE",
                                                    "GLIBC_TUNABLES"};

// The value of the first "name<separator>value" line, without quotes and outer blanks.
std::optional<std::string> field_of(const char* file, std::string_view name, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto at = line.find(separator);
    if (!line.starts_with(name) || at == std::string::npos) continue;
    if (line.find_first_not_of(" \t", name.size()) != at) continue;
    const auto first = line.find_first_not_of(" \t\"", at + 1);
    if (first == std::string::npos) return std::nullopt;
    return line.substr(first, line.find_last_not_of(" \t\"\r") + 1 - first);
  }
  return std::nullopt;
}

std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
}

bool names_a_secret(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"token", "secret", "password", "passwd", "api_key", "api-key", "apikey"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}

std::string redacted_argument(std::string text) {
  if (const auto scheme = text.find("://"); scheme != std::string::npos) {
    const auto host = scheme + 3;
    const auto at = text.find('@', host);
    if (at != std::string::npos && at < text.find('/', host))
      text = text.substr(0, host) + "***" + text.substr(at);
  }
  const char* home = std::getenv("HOME");
  const std::string folder = home ? home : "";
  // "/" is no home that could be told from any other path.
  if (folder.size() < 2) return text;
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
    const std::size_t end = at + folder.size();
    const bool starts = at == 0 || text[at - 1] == '=' || text[at - 1] == '"' || text[at - 1] == ':';
    if (starts && (end == text.size() || text[end] == '/' || text[end] == '"'))
      text = text.substr(0, at) + "~" + text.substr(end);
  }
  return text;
}

}  // namespace

HostInfo describe_host() {
  HostInfo host;
  utsname system{};
  if (uname(&system) == 0) {
    host.kernel = fmt::format("{} {}", system.sysname, system.release);
    host.architecture = system.machine;
  }
  host.os = field_of("/etc/os-release", "PRETTY_NAME", '=').value_or("unknown");
  host.cpu_model = field_of("/proc/cpuinfo", "model name", ':');
  host.logical_cores = sysconf(_SC_NPROCESSORS_CONF);
  host.usable_cores = usable_cores();
  const long pages = sysconf(_SC_PHYS_PAGES);
  if (pages > 0) host.memory_bytes = std::int64_t{pages} * sysconf(_SC_PAGESIZE);
  return host;
}

bool is_recorded_variable(std::string_view name) {
  return !names_a_secret(name) && (std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
                                   std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                               [&](auto prefix) { return name.starts_with(prefix); }));
}

std::map<std::string, std::string> recorded_environment() {
  std::map<std::string, std::string> recorded;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !is_recorded_variable(text.substr(0, equals))) continue;
    recorded[std::string(text.substr(0, equals))] = redacted_argument(std::string(text.substr(equals + 1)));
  }
  return recorded;
}

std::vector<std::string> redacted(const std::vector<std::string>& argv) {
  std::vector<std::string> out;
  bool hide = false;
  for (const std::string& argument : argv) {
    const auto equals = argument.find('=');
    if (hide && !argument.starts_with("-"))
      out.push_back("***");
    else if (equals != std::string::npos && names_a_secret(std::string_view(argument).substr(0, equals)))
      out.push_back(argument.substr(0, equals + 1) + "***");
    else
      out.push_back(redacted_argument(argument));
    hide = argument.starts_with("-") && equals == std::string::npos && names_a_secret(argument);
  }
  return out;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / 1000)),
                     ms % 1000);
}

}  // namespace branchmark
