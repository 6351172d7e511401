// Three questions about one text: its tokens run once, and each answer has the bits of a run of its own.
#include <cstdio>
#include <memory>

#include "branchmark/base/random.hpp"
#include "branchmark/device/context.hpp"
#include "branchmark/model/model.hpp"

using namespace branchmark;

// Tokens that stand for a text.
static Tokens tokens_of(const char* text, std::int64_t count, std::int64_t vocabulary) {
  Random random(1, text);
  Tokens tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocabulary)));
  return tokens;
}

int main() {
  const auto context = Context::open(KernelLibrary::load(CPU_MODULE), 0);
  const ModelConfig& config = preset("qwen3.5-smoke");
  const auto weights = std::make_shared<const Weights>(make_synthetic_weights(context, config, 1));
  Model model(context, config, weights, {});

  const auto text = [&](const char* name, std::int64_t count) {
    return tokens_of(name, count, config.vocabulary);
  };
  const PrefixTree tree = PrefixTree::from_groups(
      text("instructions", 70),
      {{"article", text("article", 130), {text("who", 9), text("when", 12), text("why", 7)}}});

  const ExecutionPlan plan = model.plan(tree, {});
  std::printf("%lld tokens run for %lld asked\n", static_cast<long long>(plan.tokens_run),
              static_cast<long long>(plan.tokens_asked));
  const auto shared = model.forward_shared(tree);

  bool equal = true;
  const auto prompts = full_prompts(tree);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto alone = model.forward_fixed(prompts[i].prompt);
    equal = equal && shared[i].digest() == alone.digest();
    std::printf("%s\n  shared %s\n  alone  %s\n", prompts[i].path.c_str(), shared[i].digest().c_str(),
                alone.digest().c_str());
  }
  std::puts(equal ? "the same bits" : "the bits differ");
  return equal ? 0 : 1;
}
