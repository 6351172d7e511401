#include "branchmark/compare/compare.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "branchmark/compare/comparison_annotations.hpp"
#include "branchmark/compare/comparison_html.hpp"
#include "branchmark/compare/comparison_json.hpp"
#include "branchmark/compare/comparison_markdown.hpp"
#include "branchmark/compare/comparison_text.hpp"
#include "branchmark/compare/differences.hpp"
#include "branchmark/compare/gates.hpp"
#include "branchmark/report/one_side.hpp"
#include "branchmark/report/output_file.hpp"
#include "commands/commands.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace branchmark::app {
namespace {

struct CompareCommandOptions {
  std::vector<std::string> reports;
  std::vector<std::string> a;
  std::vector<std::string> b;
  std::vector<std::string> aa;
  std::optional<std::string> noise_floor;
  double min_effect = 0.02;
  std::vector<std::string> fail_on = {"slower", "changed", "missing"};
  bool cross = false;
  std::optional<std::string> filter;
  std::optional<std::string> report;
  std::optional<std::string> markdown;
  std::optional<std::string> html;
  std::optional<std::string> annotations;
  bool force = false;
  bool quiet = false;
  bool no_color = false;
};

// A share, as text: above 0, at most 10.
std::string check_effect(const std::string& text) {
  double effect = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, effect);
  if (error == std::errc() && stop == end && effect > 0 && effect <= 10) return "";
  return fmt::format("found \"{}\", expected a share above 0: 0.02 for 2%", text);
}

Side read_side(const std::vector<std::string>& files) {
  std::vector<NamedReport> reports;
  for (const auto& file : files) reports.push_back({file, read_report(file)});
  return Side(std::move(reports));
}

// Both sides of a report of `bench --against`.
std::pair<Side, Side> read_both_sides(const std::string& file) {
  const auto report = read_report(file);
  if (!report.kernels_against)
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: found a report of one build, expected a second report beside it, or a report "
                    "of bench --against, which holds both sides",
                    file));
  const auto side = [&](std::string_view name) {
    std::vector<NamedReport> reports;
    reports.push_back({fmt::format("{}, side {}", file, name), one_side(report, name)});
    return Side(std::move(reports));
  };
  return {side("a"), side("b")};
}

// What is written where. All outputs are opened before any is written: with one of them refused, no other may
// have been replaced.
class Outputs {
 public:
  void add(const std::optional<std::string>& path, std::function<std::string()> text) {
    if (path) wanted_.emplace_back(*path, std::move(text));
  }
  void write(Replace replace) const {
    std::vector<std::string> paths;
    for (const auto& [path, text] : wanted_) paths.push_back(path);
    refuse_shared_paths(paths);
    for (const auto& path : paths) check_output(path, replace);
    std::vector<OutputFile> files;
    for (const auto& path : paths) files.push_back(OutputFile::open(path, OutputKind::whole, replace));
    for (std::size_t i = 0; i < files.size(); ++i) {
      files[i].write(wanted_[i].second());
      files[i].commit();
    }
  }

 private:
  std::vector<std::pair<std::string, std::function<std::string()>>> wanted_;
};

Replace replace_of(const CompareCommandOptions& options) {
  return options.force ? Replace::replace : Replace::refuse;
}

NoiseFloor measure(const CompareCommandOptions& options) {
  auto runs = read_side(options.aa);
  if (!options.cross) require_comparable(find_differences(runs));
  if (options.filter) runs.keep_only(*options.filter);
  return measure_noise_floor(runs);
}

std::optional<NoiseFloor> floor_of(const CompareCommandOptions& options) {
  if (!options.aa.empty() && options.noise_floor)
    throw Error(ErrorCode::usage, "compare: found both --aa and --noise-floor, expected one of them");
  if (options.noise_floor)
    return noise_floor_from_json(read_json_file(*options.noise_floor), *options.noise_floor);
  return options.aa.empty() ? std::nullopt : std::optional(measure(options));
}

Exit run_floor(const CompareCommandOptions& options) {
  if (options.markdown || options.html || options.annotations)
    throw Error(ErrorCode::usage,
                "compare: --markdown, --html and --annotations need two sides; --aa alone takes --report");
  const auto floor = measure(options);
  Outputs outputs;
  outputs.add(options.report, [&] { return json_text(to_json(floor)) + "\n"; });
  outputs.write(replace_of(options));
  if (!options.quiet) say(noise_floor_text(floor));
  return make_exit(kExitOk, fmt::format("noise floor {:.3g}% of {} runs and {} cases", 100 * floor.effect,
                                        floor.runs.size(), floor.cases.size()));
}

std::pair<Side, Side> read_sides(const CompareCommandOptions& options) {
  if (options.reports.size() == 1) return read_both_sides(options.reports.front());
  if (options.reports.empty()) return {read_side(options.a), read_side(options.b)};
  return {read_side({options.reports[0]}), read_side({options.reports[1]})};
}

Exit run_compare(const CompareCommandOptions& options) {
  const bool named = !options.a.empty() || !options.b.empty();
  if (options.reports.empty() && !named && !options.aa.empty()) return run_floor(options);
  const bool by_place = (options.reports.size() == 1 || options.reports.size() == 2) && !named;
  const bool by_name = options.reports.empty() && !options.a.empty() && !options.b.empty();
  if (!by_place && !by_name)
    throw Error(
        ErrorCode::usage,
        "compare: expected two reports, one of bench --against, --a and --b with one or more each, or "
        "--aa alone");

  CompareOptions how;
  how.min_effect = options.min_effect;
  how.fail_on = gates_from(options.fail_on);
  how.cross = options.cross;
  how.filter = options.filter;
  how.noise_floor = floor_of(options);
  auto [a, b] = read_sides(options);
  const auto comparison = compare(std::move(a), std::move(b), how);

  Outputs outputs;
  outputs.add(options.report, [&] { return json_text(to_json(comparison)) + "\n"; });
  outputs.add(options.markdown, [&] { return markdown_text(comparison); });
  outputs.add(options.html, [&] { return html_text(comparison); });
  outputs.add(options.annotations, [&] { return github_annotations(comparison); });
  outputs.write(replace_of(options));
  if (!options.quiet) say(comparison_text(comparison, colour_for(options.no_color)));
  return comparison.exit;
}

void add_inputs(CLI::App& parser, CompareCommandOptions& options) {
  parser
      .add_option("reports", options.reports,
                  "Side A, the baseline, and side B, what is judged; or one report of bench --against")
      ->type_name("A.json B.json");
  parser.add_option("--a", options.a, "Side A, where it has several runs")->type_name("FILE");
  parser.add_option("--b", options.b, "Side B, where it has several runs")->type_name("FILE");
  parser
      .add_option("--aa", options.aa,
                  "Repeated runs of one commit: no effect counts that is below what lies between them. "
                  "Without sides, say "
                  "what that is; --report keeps it for --noise-floor")
      ->type_name("FILE");
  parser.add_option("--noise-floor", options.noise_floor, "What --aa with --report has written")
      ->type_name("FILE");
}

void add_judgement(CLI::App& parser, CompareCommandOptions& options) {
  parser.add_option("--min-effect", options.min_effect, "The smallest change of a time that counts")
      ->capture_default_str()
      ->check(check_effect)
      ->type_name("SHARE");
  parser
      .add_option("--fail-on", options.fail_on,
                  "What makes the exit code 1: slower, changed (outputs and counters), outputs, counters, "
                  "missing (also newly failing), new; inconclusive makes it 3; or none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("slower,changed,missing")
      ->type_name("WORDS");
  parser.add_flag("--cross", options.cross,
                  "Compare what would be refused: another model, workload, device model or unknown commit");
  parser
      .add_option("--filter", options.filter, "Only cases whose key holds a match of this regular expression")
      ->type_name("REGEX");
}

}  // namespace

Command add_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareCommandOptions>();
  auto* parser = app.add_subcommand(
      "compare",
      "Compares the reports of two commits case by case: are the outputs the same bytes, is it faster or "
      "slower, did\n"
      "counters change. Exit code 1 where --fail-on applies; 3 where no case got a verdict.\n\n"
      "Example: branchmark compare baseline.json report.json --markdown -");
  add_inputs(*parser, *options);
  add_judgement(*parser, *options);
  parser->add_option("--report", options->report, "Also write the comparison as JSON; - is stdout")
      ->type_name("FILE");
  parser->add_option("--markdown", options->markdown, "Also write Markdown for a pull request; - is stdout")
      ->type_name("FILE");
  parser->add_option("--html", options->html, "Also write a page with pictures; - is stdout")
      ->type_name("FILE");
  parser
      ->add_option_function<std::string>(
          "--annotations", [options](const std::string&) { options->annotations = "-"; },
          "Also write what failed to stdout as a CI server shows it beside the code: github")
      ->check(CLI::IsMember({"github"}))
      ->type_name("FORM");
  parser->add_flag("--force", options->force, "Replace existing outputs");
  parser->add_flag("--quiet", options->quiet, "No table, only the last line");
  parser->add_flag("--no-color", options->no_color, "No colours (also with NO_COLOR set)");
  return {parser, [options](const std::vector<std::string>&) { return run_compare(*options); }};
}

}  // namespace branchmark::app
