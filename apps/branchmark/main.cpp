// The one catch and the one place that prints how a run ended.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "answer.hpp"
#include "branchmark/report/host.hpp"
#include "branchmark/report/output_file.hpp"
#include "commands/commands.hpp"

namespace {

using branchmark::Exit;

constexpr const char* kFooter =
    R"(A run prints its verdict, where its report lies, and last its exit code and the reason:
  0 passed   1 a check failed   2 wrong use   3 no verdict   4 nothing eligible here   5 hardware fault
  6 an input or output failed   7 a case hung   70 a fault of branchmark   128+n ended by signal n
Each finding says what was found and what to do, and names the command that repeats its case alone.)";

std::string version_text() {
  const auto tool = branchmark::describe_tool();
  return fmt::format("branchmark {} ({}{}, {}, {})", tool.version, tool.git_sha.value_or("revision unknown"),
                     tool.dirty.value_or(false) ? ", dirty" : "", tool.compiler, tool.build_type);
}

// What stands where a command should, or that nothing does.
Exit no_command(const CLI::App& app) {
  const auto left = app.remaining();
  const auto found = left.empty() ? std::string("no command") : fmt::format("\"{}\"", left.front());
  std::string commands;
  for (const auto* command :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  return branchmark::make_exit(
      branchmark::kExitUsage,
      fmt::format(
          "found {}, expected one of {}; begin with branchmark qualify smoke, or see branchmark --help",
          found, commands));
}

Exit run(int argc, char** argv) {
  CLI::App app(
      "Qualifies a device, driver and kernel build for shared-prefix inference of the Qwen3.5 hybrid text "
      "backbone.\n\n"
      "Example: branchmark qualify smoke\n\n"
      "Begin with:\n"
      "  branchmark devices              what is here, and whether it may be used\n"
      "  branchmark qualify smoke        a verdict in half a minute, on any machine\n"
      "  branchmark qualify qualify-4b   the whole grid, for a GPU\n"
      "  branchmark bench bench-4b       how fast it is\n"
      "  branchmark COMMAND --help       what a command takes, with an example first\n");
  app.name("branchmark");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("SUBCOMMANDS", "COMMANDS");
  app.footer(kFooter);
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  // In the order in which --help lists them.
  const std::vector<branchmark::app::Command> commands = {
      branchmark::app::add_qualify(app),       branchmark::app::add_bench(app),
      branchmark::app::add_compare(app),       branchmark::app::add_parity(app),
      branchmark::app::add_profile_check(app), branchmark::app::add_plan(app),
      branchmark::app::add_report(app),        branchmark::app::add_devices(app),
      branchmark::app::add_reference(app)};
  for (const auto& command : commands)
    if (!command.parser->get_group().empty()) command.parser->group("Commands");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    // --help and --version: the answer is the output.
    std::ostringstream text;
    app.exit(asked, text, text);
    branchmark::app::answer(text.str());
    return branchmark::make_exit(branchmark::kExitOk, "");
  } catch (const CLI::ParseError& error) {
    if (app.get_subcommands().empty()) return no_command(app);
    return branchmark::make_exit(
        branchmark::kExitUsage,
        fmt::format("{}; see branchmark {} --help", error.what(), app.get_subcommands().front()->get_name()));
  }
  for (const auto& command : commands)
    if (command.parser->parsed()) return command.run({argv, argv + argc});
  return no_command(app);
}

}  // namespace

int main(int argc, char** argv) {
  branchmark::ignore_write_signals();
  Exit exit;
  try {
    exit = run(argc, argv);
  } catch (const std::exception& error) {
    exit = branchmark::exit_for(error);
  }
  if (!exit.reason.empty()) std::fputs((branchmark::exit_line(exit) + "\n").c_str(), stderr);
  return exit.code;
}
