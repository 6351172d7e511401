// Prompts from a JSONL file: one list of token ids a line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "branchmark/model/prefix_tree.hpp"

namespace branchmark {

// Blank lines are skipped. Throws io where the file cannot be read; usage, with the line, for anything but a
// non-empty list of token ids, and for a file without prompts.
std::vector<Prompt> read_prompt_file(const std::filesystem::path& file);
std::vector<Prompt> parse_prompts(std::string_view text, const std::string& origin);

}  // namespace branchmark
