#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "answer.hpp"
#include "commands/commands.hpp"

namespace branchmark::app {
namespace {

bool is_shown(const CLI::App* command) {
  return !command->get_group().empty();
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands(is_shown);
}

std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

// Outside of code, what stands in angle brackets would be taken for a tag.
std::string prose(std::string text) {
  text = cell(std::move(text));
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; ++at) text.replace(at, 1, "&lt;");
  return text;
}

std::string option_row(const CLI::Option& option) {
  auto names = option.get_positional() ? std::string() : option.get_name(false, true);
  for (std::size_t at = 0; (at = names.find(',', at)) != std::string::npos; at += 2)
    names.insert(at + 1, " ");
  // A flag takes no value, and CLI11 gives it the type of one all the same.
  const auto type = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  const auto usual = option.get_default_str();
  return fmt::format("| `{}{}{}` | {}{} |\n", names, names.empty() || type.empty() ? "" : " ", cell(type),
                     prose(option.get_description()), usual.empty() ? "" : fmt::format(" [{}]", usual));
}

std::string markdown(const CLI::App& app) {
  std::string text = "# Commands of branchmark\n\nMade by `branchmark reference markdown`.\n";
  for (const auto* command : shown_commands(app)) {
    text += fmt::format("\n## branchmark {}\n\n{}\n\n| option | meaning |\n| --- | --- |\n",
                        command->get_name(), command->get_description());
    for (const auto* option : command->get_options()) text += option_row(*option);
  }
  return text;
}

// Completes commands, then the long options of the command that was chosen, else files.
std::string bash_completion(const CLI::App& app) {
  std::string words;
  std::string cases;
  for (const auto* command : shown_commands(app)) {
    words += (words.empty() ? "" : " ") + command->get_name();
    std::string flags;
    for (const auto* option : command->get_options())
      for (const auto& name : option->get_lnames()) flags += " --" + name;
    cases += fmt::format("    {}) options=\"{}\" ;;\n", command->get_name(), flags.substr(1));
  }
  return "# Completion for bash: source <(branchmark reference bash)\n"
         "_branchmark() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} options=\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         words +
         " --help --version\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  case $word in -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;; esac\n"
         "}\n"
         "complete -o default -F _branchmark branchmark\n";
}

}  // namespace

Command add_reference(CLI::App& app) {
  const auto form = std::make_shared<std::string>("markdown");
  auto* parser =
      app.add_subcommand("reference",
                         "Prints every command and option, as Markdown or as completion for bash.\n\n"
                         "Example: branchmark reference markdown");
  parser->group("");
  parser->add_option("form", *form, "markdown or bash")
      ->capture_default_str()
      ->check(CLI::IsMember({"markdown", "bash"}))
      ->type_name("FORM");
  return {parser, [&app, form](const std::vector<std::string>&) {
            answer(*form == "markdown" ? markdown(app) : bash_completion(app));
            return make_exit(kExitOk, "");
          }};
}

}  // namespace branchmark::app
