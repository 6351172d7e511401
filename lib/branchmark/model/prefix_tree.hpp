// A tree of token prefixes: what shared execution is asked to run.
//
// A node has tokens, and either children or it ends a prompt. An inner node without tokens stands for nothing
// (an empty request or group prefix). Prompts are numbered in depth-first order, which is the order of the
// results. Plain values; thread-safe for reading.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace branchmark {

using Tokens = std::vector<std::int32_t>;

// Rotary positions of some tokens: temporal, height, width, each one entry a token. Empty rows: positions
// count from the prompt's start.
struct PositionRows {
  std::array<std::vector<std::int32_t>, 3> rows;
  bool empty() const { return rows[0].empty() && rows[1].empty() && rows[2].empty(); }
};

struct Prompt {
  Tokens tokens;
  PositionRows positions;
};

struct PrefixNode {
  std::string name;  // in messages; empty: "[i]", its place among its siblings
  Tokens tokens;
  PositionRows positions;
  bool ends_prompt = false;
  std::vector<PrefixNode> children;
};

// A request prefix, groups with a prefix of their own, and branches: the two-level case of scenarios.
struct PromptGroup {
  std::string name;
  Tokens prefix;
  std::vector<Tokens> branches;
};

struct PrefixTree {
  PrefixNode root;

  static PrefixTree from_groups(Tokens request_prefix, std::vector<PromptGroup> groups);
  // Finds the shared prefixes of a flat list. A prompt that is a prefix of another (or equal to it) keeps its
  // last token as a branch of its own. Prompts come out in the tree's order; `order[i]` is the index in
  // `prompts` of the tree's prompt i. Prompts with positions of their own share a prefix only where those are
  // equal too. Throws refused for an empty prompt, and for position rows of another length than the tokens.
  static PrefixTree from_prompts(std::span<const Prompt> prompts, std::vector<std::int64_t>* order);
};

// What limits a valid tree.
struct PromptLimits {
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;
};

// Throws refused, with the path of the node: no prompts, an empty branch, a group without branches, a node
// that both ends a prompt and has children, too long a prompt, a token outside the vocabulary, position rows
// of another length than the tokens or out of range.
void validate(const PrefixTree& tree, const PromptLimits& limits);
// The same for one prompt; `name` stands for it in messages.
void validate(const Prompt& prompt, const PromptLimits& limits, const std::string& name);

// Every prompt of the tree in full, in the tree's order, with its path ("request/group 1/branch 0").
struct FullPrompt {
  std::string path;
  Prompt prompt;
};
std::vector<FullPrompt> full_prompts(const PrefixTree& tree);

// Extends a path's tokens by a node's; positions become explicit as soon as one node has them.
void extend(Prompt& path, const PrefixNode& node);
// Tokens [first, last) of a prompt, with their positions where it has explicit ones.
Prompt slice(const Prompt& prompt, std::int64_t first, std::int64_t last);
// "root" or the root's name; a child's path below its parent's.
std::string root_path(const PrefixTree& tree);
std::string child_path(const std::string& path, const PrefixNode& child, std::size_t index);

}  // namespace branchmark
