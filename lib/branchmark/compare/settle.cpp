#include "branchmark/compare/settle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace branchmark {
namespace {

// Options of a run that place outputs or choose cases: each with a value, or joined to it by "=".
constexpr std::array<std::string_view, 8> kLeftOut = {"--report",   "--journal",     "--junit",
                                                      "--markdown", "--html",        "--annotations",
                                                      "--filter",   "--keep-outputs"};

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=:,+@%~") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string escaped_for_regex(const std::string& key) {
  std::string pattern;
  for (const char c : key) {
    if (std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// The run's own command line without where its outputs went and which cases it chose.
std::string repeated(const Report& report) {
  std::string text = "branchmark";
  for (std::size_t i = 1; i < report.argv.size(); ++i) {
    const std::string_view word = report.argv[i];
    const auto name = word.substr(0, word.find('='));
    if (word == "--force") continue;
    if (std::find(kLeftOut.begin(), kLeftOut.end(), name) == kLeftOut.end())
      text += " " + quoted(report.argv[i]);
    else if (name == word)
      ++i;
  }
  return text;
}

// The run again, of one case. In a run of two builds the key goes on with the side.
std::string repeated_case(const Report& report, const std::string& key) {
  const bool two_builds = std::any_of(report.argv.begin(), report.argv.end(),
                                      [](const auto& word) { return word.starts_with("--against"); });
  return fmt::format("{} --filter '^{}{}'", repeated(report), escaped_for_regex(key),
                     two_builds ? ",side=" : "$");
}

}  // namespace

std::string keep_suggestion(const Report& report, const CaseComparison& compared) {
  return fmt::format("to see how far apart, on both sides: {} --keep-outputs DIR",
                     repeated_case(report, compared.key));
}

std::string settle_suggestion(const Report& report, const CaseComparison& compared,
                              const TimeComparison& time) {
  const bool several = time.a.samples.runs().size() > 1 || time.b.samples.runs().size() > 1;
  if (time.log_interval && !time.samples_to_settle)
    return fmt::format(
        "no reasonable number of samples settles it: make the device quieter, or take a larger --min-effect "
        "than "
        "{:.3g}",
        time.effect);
  const auto again = repeated_case(report, compared.key);
  if (several) return fmt::format("give each side more runs: {}", again);
  return fmt::format(
      "on both sides: {}{}", again,
      time.samples_to_settle ? fmt::format(" --set bench.min_samples={}", *time.samples_to_settle) : "");
}

}  // namespace branchmark
