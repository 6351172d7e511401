// Text from elsewhere (keys, messages, names of devices) inside what people and CI servers read: valid UTF-8,
// and nothing in it taken for markup.
#pragma once

#include <string>
#include <string_view>

namespace branchmark {

// For a terminal: one line, no escape sequences.
std::string printable(const std::string& text);

// For a table cell or a paragraph of Markdown: one line, no markup.
std::string markdown_escaped(const std::string& text);

// A workflow command of GitHub with its line end; `name` is error, warning or notice. What would end the
// line, and in the title what would end the property, is percent-encoded.
std::string github_command(std::string_view name, const std::string& title, const std::string& message);

}  // namespace branchmark
