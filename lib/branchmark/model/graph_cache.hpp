// Recorded passes of `forward`, by the ordered lengths of its prompts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "branchmark/device/context.hpp"

namespace branchmark {

struct GraphStatistics {
  std::int64_t captures = 0;
  std::int64_t replays = 0;
  std::int64_t fallbacks = 0;  // a capture failed; the eager result stands
  std::int64_t drops = 0;      // graphs dropped: memory moved, or the cache was full
};

// At most kMaxGraphs graphs; a further shape drops the oldest.
class GraphCache {
 public:
  static constexpr std::size_t kMaxGraphs = 64;

  explicit GraphCache(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~GraphCache() { clear(); }
  GraphCache(const GraphCache&) = delete;
  GraphCache& operator=(const GraphCache&) = delete;

  using Key = std::vector<std::int64_t>;
  // Queues the recorded pass; false where none is recorded.
  bool replay(const Key& key);
  // Records what `queue` queues, without running it. A failure is counted and leaves no graph.
  template <class Queue>
  void capture(const Key& key, const Queue& queue) {
    if (!begin()) return;
    try {
      queue();
    } catch (const Error&) {
      end(key, false);
      return;
    }
    end(key, true);
  }
  // Drops every graph: what they point to has moved.
  void clear() noexcept;
  const GraphStatistics& statistics() const { return statistics_; }

 private:
  bool begin();
  void end(const Key& key, bool keep);
  void drop_oldest() noexcept;

  std::shared_ptr<Context> context_;
  std::deque<std::pair<Key, bmk_graph*>> graphs_;
  GraphStatistics statistics_;
};

}  // namespace branchmark
