#include "branchmark/model/graph_cache.hpp"

#include <algorithm>

namespace branchmark {
namespace {

void destroy(Context& context, bmk_graph* graph) noexcept {
  ++context.counters().calls;
  context.table().graph->destroy(graph);
}

}  // namespace

bool GraphCache::replay(const Key& key) {
  const auto found =
      std::find_if(graphs_.begin(), graphs_.end(), [&](const auto& g) { return g.first == key; });
  if (found == graphs_.end()) return false;
  context_->call("graph.launch", context_->table().graph->launch, found->second, context_->stream());
  ++statistics_.replays;
  return true;
}

bool GraphCache::begin() {
  try {
    context_->call("graph.begin", context_->table().graph->begin, context_->stream());
    return true;
  } catch (const Error&) {
    ++statistics_.fallbacks;
    return false;
  }
}

void GraphCache::end(const Key& key, bool keep) {
  bmk_graph* graph = nullptr;
  try {
    context_->call("graph.end", context_->table().graph->end, context_->stream(), &graph);
  } catch (const Error&) {
    graph = nullptr;
  }
  if (graph == nullptr || !keep) {
    destroy(*context_, graph);
    ++statistics_.fallbacks;
    return;
  }
  if (graphs_.size() == kMaxGraphs) drop_oldest();
  graphs_.emplace_back(key, graph);
  ++statistics_.captures;
}

void GraphCache::drop_oldest() noexcept {
  destroy(*context_, graphs_.front().second);
  graphs_.pop_front();
  ++statistics_.drops;
}

void GraphCache::clear() noexcept {
  while (!graphs_.empty()) drop_oldest();
}

}  // namespace branchmark
