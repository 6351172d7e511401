#include "branchmark/verify/prompt_file.hpp"

#include <fmt/format.h>

#include <limits>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"

namespace branchmark {

std::vector<Prompt> read_prompt_file(const std::filesystem::path& file) {
  return parse_prompts(read_file(file), file.string());
}

std::vector<Prompt> parse_prompts(std::string_view text, const std::string& origin) {
  std::vector<Prompt> prompts;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto where = fmt::format("{}, line {}", origin, number);
    const auto value = parse_json(line, where);
    if (!value.is_array() || value.empty())
      throw Error(ErrorCode::usage, fmt::format("{}: expected a non-empty list of token ids, found {}", where,
                                                value.is_array() ? "an empty list" : value.type_name()));
    Prompt prompt;
    for (const auto& token : value) {
      if (!token.is_number_integer() || token.get<std::int64_t>() < 0 ||
          token.get<std::int64_t>() > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorCode::usage,
                    fmt::format("{}: expected a token id at /{}, found {}", where, prompt.tokens.size(),
                                json_text(token, JsonStyle::compact)));
      prompt.tokens.push_back(token.get<std::int32_t>());
    }
    prompts.push_back(std::move(prompt));
  }
  if (prompts.empty())
    throw Error(ErrorCode::usage, fmt::format("{}: no prompts; expected one list a line", origin));
  return prompts;
}

}  // namespace branchmark
