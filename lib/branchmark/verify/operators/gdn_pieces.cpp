#include <algorithm>
#include <cmath>
#include <limits>

#include "branchmark/verify/operators/gdn_prefill.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::operators {
namespace {

constexpr std::int64_t kDim = BMK_GDN_HEAD_DIM;
constexpr float kExtremes[] = {0.0f, -1e-6f, -1.0f, -20.0f, -80.0f, -1e4f};
constexpr std::uint32_t kNumExtremes = 6;

float decay(Random& random, GdnData data, std::int64_t row, std::int64_t head) {
  switch (data) {
    case GdnData::typical:
      return -std::exp2(-8.0f + static_cast<float>(head % 4) * 2.5f + 1.5f * random.uniform());
    case GdnData::no_decay:
      return 0.0f;
    case GdnData::extreme_decay:
      return kExtremes[head % kNumExtremes];
    case GdnData::mixed_decay:
      return row % BMK_CHUNK_TOKENS == 20 ? kExtremes[kNumExtremes - 1]
                                          : kExtremes[random.below(kNumExtremes - 1)];
    case GdnData::near_duplicate_keys:
    case GdnData::duplicate_keys:
      return -1e-3f * random.uniform();
  }
  return 0.0f;
}

GdnPrefill::Inputs make_inputs(Random& random, const GdnShape& shape, GdnData data, std::int64_t rows) {
  const auto activation = activation_of(shape.numerics);
  const std::int64_t key_width = kDim * shape.key_heads;
  GdnPrefill::Inputs in{HostMatrix(rows, 2 * key_width + kDim * shape.value_heads, activation),
                        HostMatrix(rows, shape.value_heads, BMK_F32),
                        HostMatrix(rows, shape.value_heads, BMK_F32)};
  // As behind a convolution and SiLU: not centred.
  for (auto& value : in.qkv.values)
    value = stored(static_cast<float>(oracle::silu(1.5 * random.normal())), activation);
  const float spread = data == GdnData::near_duplicate_keys ? 0.2f : 0.005f;
  if (data == GdnData::near_duplicate_keys || data == GdnData::duplicate_keys)
    for (std::int64_t row = 1; row < rows; ++row)
      for (std::int64_t i = key_width; i < 2 * key_width; ++i)
        in.qkv.at(row, i) = stored(in.qkv.at(0, i) * (1.0f + spread * random.normal()), activation);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t head = 0; head < shape.value_heads; ++head) {
      in.g.at(row, head) = decay(random, data, row, head);
      in.beta.at(row, head) = stored(static_cast<float>(oracle::sigmoid(1.5 * random.normal())), activation);
    }
  return in;
}

}  // namespace

const char* name_of(GdnData data) {
  switch (data) {
    case GdnData::typical:
      return "typical";
    case GdnData::no_decay:
      return "no_decay";
    case GdnData::extreme_decay:
      return "extreme_decay";
    case GdnData::mixed_decay:
      return "mixed_decay";
    case GdnData::near_duplicate_keys:
      return "near_duplicate_keys";
    case GdnData::duplicate_keys:
      return "duplicate_keys";
  }
  return "typical";
}

GdnPrefill::GdnPrefill(Bench& bench, const GdnShape& shape, GdnData data,
                       const std::vector<std::int64_t>& prompt_rows)
    : context_(bench.context), shape_(shape) {
  for (const auto rows : prompt_rows) prompts_.push_back(make_inputs(bench.random, shape, data, rows));
}

void GdnPrefill::poison(std::int64_t prompt) {
  auto& in = prompts_[static_cast<std::size_t>(prompt)];
  for (auto* matrix : {&in.qkv, &in.g, &in.beta})
    std::fill(matrix->values.begin(), matrix->values.end(), std::numeric_limits<float>::quiet_NaN());
}

std::vector<PieceResult> GdnPrefill::run(Verdict& verdict, std::span<const Piece> pieces, Stale stale) {
  std::vector<HostMatrix> qkv;
  std::vector<HostMatrix> g;
  std::vector<HostMatrix> beta;
  for (const auto& piece : pieces) {
    const auto& in = inputs(piece.prompt);
    qkv.push_back(rows_of(in.qkv, piece.from, piece.rows()));
    g.push_back(rows_of(in.g, piece.from, piece.rows()));
    beta.push_back(rows_of(in.beta, piece.from, piece.rows()));
  }
  const Sequences sequences(context_, spans_of(pieces));
  const DeviceMatrix device_qkv(context_, stacked(qkv), Stride::padded, stale);
  const DeviceMatrix device_g(context_, stacked(g), Stride::padded, stale);
  const DeviceMatrix device_beta(context_, stacked(beta), Stride::padded, stale);
  const DeviceMatrix out(context_, sequences.view().num_rows, out_columns(), activation_of(shape_.numerics));

  std::vector<const float*> states_in;
  std::vector<float*> states_out;
  std::vector<std::int64_t> state_at;
  std::vector<std::shared_ptr<Carried>> captured;
  for (const auto& piece : pieces) {
    auto& carried = captured.emplace_back();
    states_in.push_back(piece.parent ? static_cast<const float*>(piece.parent->matrices[0].data()) : nullptr);
    state_at.push_back(piece.capture_at.value_or(0));
    if (piece.capture_at) {
      carried = std::make_shared<Carried>();
      carried->position = piece.from + *piece.capture_at;
      carried->matrices.emplace_back(context_, shape_.value_heads * kDim, kDim, BMK_F32, Stride::tight);
    }
    states_out.push_back(carried ? static_cast<float*>(carried->matrices[0].data()) : nullptr);
  }
  const DeviceArray<const float*> device_in(context_, states_in);
  const DeviceArray<float*> device_out(context_, states_out);
  const DeviceArray<std::int64_t> device_at(context_, state_at);
  bmk_gdn_prefill_args args{.struct_size = sizeof(bmk_gdn_prefill_args),
                            .numerics = shape_.numerics,
                            .reserved = 0,
                            .key_heads = shape_.key_heads,
                            .value_heads = shape_.value_heads,
                            .sequences = sequences.view(),
                            .qkv = device_qkv.view(),
                            .g = device_g.view(),
                            .beta = device_beta.view(),
                            .out = out.view(),
                            .state_in = device_in.data(),
                            .state_out = device_out.data(),
                            .state_at = device_at.data(),
                            .workspace = nullptr,
                            .workspace_bytes = 0};
  const auto& ops = *context_->table().ops;
  args.workspace_bytes = workspace_bytes(*context_, "gdn_prefill_workspace", ops.gdn_prefill_workspace, args);
  const auto workspace = poisoned_buffer(context_, args.workspace_bytes);
  args.workspace = workspace.data();
  run_op(*context_, "gdn_prefill", ops.gdn_prefill, args);

  const auto rows = out.download(verdict, "out");
  std::vector<PieceResult> results;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (captured[i]) captured[i]->contents.push_back(captured[i]->matrices[0].download(verdict, "state_out"));
    results.push_back(
        {rows_of(rows, sequences.first_row(static_cast<std::int64_t>(i)), pieces[i].rows()), captured[i]});
  }
  return results;
}

}  // namespace branchmark::operators
