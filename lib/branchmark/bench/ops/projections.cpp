// The products of a layer with each handle, and the LoRA delta of one of them.
#include "branchmark/bench/ops/op_list.hpp"

namespace branchmark::ops {
namespace {

constexpr std::int64_t kLoraRank = 16;
constexpr float kLoraScale = 1.5f;

double product_flop(std::int64_t rows, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(k);
}

struct Product {
  const char* name;
  std::int64_t (*outputs)(const ModelConfig&);
  std::int64_t (*inputs)(const ModelConfig&);
};

// A layer's stacked projections.
constexpr Product kProducts[] = {
    {"gdn_input", [](const ModelConfig& c) { return c.gdn_input_width(); },
     [](const ModelConfig& c) { return c.hidden; }},
    {"gdn_output", [](const ModelConfig& c) { return c.hidden; },
     [](const ModelConfig& c) { return c.value_width(); }},
    {"attention_input", [](const ModelConfig& c) { return c.attention_input_width(); },
     [](const ModelConfig& c) { return c.hidden; }},
    {"attention_output", [](const ModelConfig& c) { return c.hidden; },
     [](const ModelConfig& c) { return c.query_width(); }},
    {"gate_up", [](const ModelConfig& c) { return c.gate_up_width(); },
     [](const ModelConfig& c) { return c.hidden; }},
    {"down", [](const ModelConfig& c) { return c.hidden; }, [](const ModelConfig& c) { return c.ffn; }},
};

OpWork gemm(Operands& in, const Product& product, GemmKind kind, std::int64_t rows) {
  const auto n = product.outputs(in.config());
  const auto k = product.inputs(in.config());
  const auto x = in.random("x", rows, k, in.activation());
  const auto w = in.pool().weight(product.name, n, k, BMK_BF16, kSmall);
  const auto y = in.output(rows, n, in.activation());
  auto& handle = in.pool().gemm(kind);
  handle.prepare(shape_of(x, w, y), std::span(&rows, 1));
  return {[&handle, x, w, y] { handle.run(x, w, y); }, product_flop(rows, n, k), bytes_of({x, w, y})};
}

OpWork lora_delta(Operands& in, std::int64_t rows) {
  const auto& config = in.config();
  const auto whole = in.random("y", rows, config.gate_up_width(), in.activation());
  // As for gate_proj: one part of the stacked projection's output.
  const auto y = columns_of(whole, 0, config.ffn);
  in.changes(whole, y);
  bmk_lora_delta_args args{.struct_size = sizeof args,
                           .numerics = in.numerics(),
                           .scale = kLoraScale,
                           .x = in.random("x", rows, config.hidden, in.activation()),
                           .a = in.pool().weight("a", kLoraRank, config.hidden, BMK_F32, kSmall),
                           .b = in.pool().weight("b", config.ffn, kLoraRank, BMK_F32, kSmall),
                           .y = y,
                           .workspace = nullptr,
                           .workspace_bytes = 0};
  const auto& ops = *in.context().table().ops;
  args.workspace_bytes =
      operators::workspace_bytes(in.context(), "lora_delta_workspace", ops.lora_delta_workspace, args);
  args.workspace = in.workspace(args.workspace_bytes);
  return {in.launch("lora_delta", ops.lora_delta, args),
          product_flop(rows, kLoraRank, config.hidden) + product_flop(rows, config.ffn, kLoraRank),
          bytes_of({args.x, args.a, args.b, y, y})};
}

}  // namespace

void add_projections(OpList& list) {
  for (const auto& product : kProducts)
    for (const auto kind : list.handles())
      list.add_rows("gemm", {{"projection", product.name}, {"gemm", name_of(kind)}},
                    std::string("gemm ") + product.name, [&product, kind](Operands& in, std::int64_t rows) {
                      return gemm(in, product, kind, rows);
                    });
  list.add_rows("lora_delta", {{"rank", kLoraRank}}, "lora_delta", lora_delta);
}

}  // namespace branchmark::ops
