#include "branchmark/model/prefix_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::refused, fmt::format("{}: {}", path, why));
}

void validate_row_lengths(const Tokens& tokens, const PositionRows& positions, const std::string& path) {
  if (positions.empty()) return;
  for (std::size_t row = 0; row < 3; ++row)
    if (const auto entries = positions.rows[row].size(); entries != tokens.size())
      refuse(path, fmt::format("position row {} has {} entries for {} tokens", row, entries, tokens.size()));
}

void validate_tokens(const Tokens& tokens, const PositionRows& positions, const PromptLimits& limits,
                     const std::string& path) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= limits.vocabulary)
      refuse(path, fmt::format("token {} at index {} is outside the vocabulary of {}", tokens[i], i,
                               limits.vocabulary));
  validate_row_lengths(tokens, positions, path);
  for (const auto& row : positions.rows)
    for (const auto value : row)
      if (value < 0 || value >= limits.max_positions)
        refuse(path, fmt::format("position {} is outside 0..{}", value, limits.max_positions - 1));
}

void validate_length(std::int64_t length, const PromptLimits& limits, const std::string& path) {
  if (length > limits.max_positions)
    refuse(path,
           fmt::format("the prompt has {} tokens, the model takes at most {}", length, limits.max_positions));
}

void validate_node(const PrefixNode& node, const PromptLimits& limits, const std::string& path,
                   std::int64_t above) {
  const auto length = above + static_cast<std::int64_t>(node.tokens.size());
  validate_length(length, limits, path);
  validate_tokens(node.tokens, node.positions, limits, path);
  if (node.ends_prompt && !node.children.empty())
    refuse(path, "a node that ends a prompt cannot have children");
  if (node.ends_prompt && node.tokens.empty())
    refuse(path, "an empty branch: a prompt's end needs at least one token");
  if (!node.ends_prompt && node.children.empty()) refuse(path, "a group without branches");
  for (std::size_t i = 0; i < node.children.size(); ++i)
    validate_node(node.children[i], limits, child_path(path, node.children[i], i), length);
}

void collect(const PrefixNode& node, const std::string& path, Prompt prompt, std::vector<FullPrompt>& out) {
  extend(prompt, node);
  if (node.ends_prompt) {
    out.push_back({path, std::move(prompt)});
    return;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i)
    collect(node.children[i], child_path(path, node.children[i], i), prompt, out);
}

// Token i of a prompt with its three positions: what two prompts must agree on to share it.
std::array<std::int32_t, 4> step(const Prompt& prompt, std::size_t i) {
  std::array<std::int32_t, 4> key = {prompt.tokens[i], static_cast<std::int32_t>(i),
                                     static_cast<std::int32_t>(i), static_cast<std::int32_t>(i)};
  if (!prompt.positions.empty())
    for (std::size_t row = 0; row < 3; ++row) key[row + 1] = prompt.positions.rows[row][i];
  return key;
}

void take(PrefixNode& node, const Prompt& prompt, std::size_t first, std::size_t last) {
  const auto range = [&](const std::vector<std::int32_t>& values) {
    return std::vector<std::int32_t>(values.begin() + static_cast<std::ptrdiff_t>(first),
                                     values.begin() + static_cast<std::ptrdiff_t>(last));
  };
  node.tokens = range(prompt.tokens);
  if (prompt.positions.empty()) return;
  for (std::size_t row = 0; row < 3; ++row) node.positions.rows[row] = range(prompt.positions.rows[row]);
}

// Builds the children of a node that ends at token `depth` of every prompt in `members` (sorted, so that
// prompts with a longer common prefix are neighbours).
void build(PrefixNode& node, std::span<const Prompt> prompts, std::span<const std::int64_t> members,
           std::size_t depth, std::vector<std::int64_t>* order) {
  const auto prompt = [&](std::int64_t member) -> const Prompt& {
    return prompts[static_cast<std::size_t>(member)];
  };
  for (std::size_t begin = 0; begin < members.size();) {
    const auto& first = prompt(members[begin]);
    std::size_t end = begin + 1;
    // A prompt's last token never becomes part of a shared node: each prompt ends in a node of its own.
    const bool shareable = first.tokens.size() > depth + 1;
    while (shareable && end < members.size() && prompt(members[end]).tokens.size() > depth + 1 &&
           step(prompt(members[end]), depth) == step(first, depth))
      ++end;
    PrefixNode child;
    if (end - begin == 1) {
      take(child, first, depth, first.tokens.size());
      child.name = fmt::format("prompt {}", members[begin]);
      child.ends_prompt = true;
      if (order != nullptr) order->push_back(members[begin]);
    } else {
      const auto group = members.subspan(begin, end - begin);
      std::size_t common = depth + 1;
      const auto agrees = [&](std::int64_t member) {
        return prompt(member).tokens.size() > common + 1 &&
               step(prompt(member), common) == step(first, common);
      };
      while (std::all_of(group.begin(), group.end(), agrees)) ++common;
      take(child, first, depth, common);
      build(child, prompts, group, common, order);
    }
    node.children.push_back(std::move(child));
    begin = end;
  }
}

}  // namespace

std::string child_path(const std::string& path, const PrefixNode& node, std::size_t index) {
  return fmt::format("{}/{}", path, node.name.empty() ? fmt::format("[{}]", index) : node.name);
}

std::string root_path(const PrefixTree& tree) {
  return tree.root.name.empty() ? "root" : tree.root.name;
}

void extend(Prompt& path, const PrefixNode& node) {
  const auto before = static_cast<std::int32_t>(path.tokens.size());
  path.tokens.insert(path.tokens.end(), node.tokens.begin(), node.tokens.end());
  if (path.positions.empty() && node.positions.empty()) return;
  for (std::size_t row = 0; row < 3; ++row) {
    auto& values = path.positions.rows[row];
    const auto counted = values.size();
    values.resize(path.tokens.size());
    std::iota(values.begin() + static_cast<std::ptrdiff_t>(counted), values.end(),
              static_cast<std::int32_t>(counted));
    if (!node.positions.empty())
      std::copy(node.positions.rows[row].begin(), node.positions.rows[row].end(), values.begin() + before);
  }
}

Prompt slice(const Prompt& prompt, std::int64_t first, std::int64_t last) {
  const auto range = [&](const std::vector<std::int32_t>& values) {
    return std::vector<std::int32_t>(values.begin() + first, values.begin() + last);
  };
  Prompt part;
  part.tokens = range(prompt.tokens);
  if (!prompt.positions.empty())
    for (std::size_t row = 0; row < 3; ++row) part.positions.rows[row] = range(prompt.positions.rows[row]);
  return part;
}

PrefixTree PrefixTree::from_groups(Tokens request_prefix, std::vector<PromptGroup> groups) {
  PrefixTree tree;
  tree.root.name = "request";
  tree.root.tokens = std::move(request_prefix);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    PrefixNode group;
    group.name = groups[g].name.empty() ? fmt::format("group {}", g) : std::move(groups[g].name);
    group.tokens = std::move(groups[g].prefix);
    for (std::size_t b = 0; b < groups[g].branches.size(); ++b) {
      PrefixNode branch;
      branch.name = fmt::format("branch {}", b);
      branch.tokens = std::move(groups[g].branches[b]);
      branch.ends_prompt = true;
      group.children.push_back(std::move(branch));
    }
    tree.root.children.push_back(std::move(group));
  }
  return tree;
}

PrefixTree PrefixTree::from_prompts(std::span<const Prompt> prompts, std::vector<std::int64_t>* order) {
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto path = fmt::format("prompt {}", i);
    if (prompts[i].tokens.empty()) refuse(path, "an empty prompt");
    validate_row_lengths(prompts[i].tokens, prompts[i].positions, path);
  }
  std::vector<std::int64_t> members(prompts.size());
  std::iota(members.begin(), members.end(), 0);
  const auto less = [&](std::int64_t a, std::int64_t b) {
    const auto& pa = prompts[static_cast<std::size_t>(a)];
    const auto& pb = prompts[static_cast<std::size_t>(b)];
    // The last token stays out of the comparison, as it is never shared.
    const auto common = std::min(pa.tokens.size(), pb.tokens.size()) - 1;
    for (std::size_t i = 0; i < common; ++i)
      if (const auto sa = step(pa, i), sb = step(pb, i); sa != sb) return sa < sb;
    return pa.tokens.size() < pb.tokens.size();
  };
  std::stable_sort(members.begin(), members.end(), less);
  PrefixTree tree;
  tree.root.name = "prompts";
  if (order != nullptr) order->clear();
  build(tree.root, prompts, members, 0, order);
  return tree;
}

void validate(const PrefixTree& tree, const PromptLimits& limits) {
  if (tree.root.children.empty() && !tree.root.ends_prompt) refuse(root_path(tree), "no prompts");
  validate_node(tree.root, limits, root_path(tree), 0);
}

void validate(const Prompt& prompt, const PromptLimits& limits, const std::string& name) {
  if (prompt.tokens.empty()) refuse(name, "an empty prompt");
  validate_length(static_cast<std::int64_t>(prompt.tokens.size()), limits, name);
  validate_tokens(prompt.tokens, prompt.positions, limits, name);
}

std::vector<FullPrompt> full_prompts(const PrefixTree& tree) {
  std::vector<FullPrompt> prompts;
  collect(tree.root, root_path(tree), {}, prompts);
  return prompts;
}

}  // namespace branchmark
