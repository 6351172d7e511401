// conv: two roundings, emulated by the oracle; the history out is a copy of input rows, so exact.
#include "branchmark/verify/oracle/conv.hpp"

#include <limits>

#include "branchmark/verify/operators/sequence_op.hpp"

namespace branchmark::operators {
namespace {

class Conv : public SequenceOp {
 public:
  Conv(Bench& bench, bmk_numerics numerics, bmk_dtype weight_dtype, std::int64_t channels,
       const std::vector<std::int64_t>& prompt_rows)
      : context_(bench.context),
        numerics_(numerics),
        weight_(random_matrix(bench.random, channels, BMK_CONV_TAPS, weight_dtype, 0.5f)),
        device_weight_(context_, weight_, Stride::tight) {
    for (const auto rows : prompt_rows)
      prompts_.push_back(random_matrix(bench.random, rows, channels, activation_of(numerics), 1.5f));
  }

  std::int64_t prompt_rows(std::int64_t prompt) const override { return input(prompt).rows; }
  std::int64_t out_columns() const override { return weight_.rows; }
  std::int64_t carried_elements() const override { return BMK_CONV_HISTORY * weight_.rows; }
  const HostMatrix& input(std::int64_t prompt) const { return prompts_[static_cast<std::size_t>(prompt)]; }
  const HostMatrix& weight() const { return weight_; }

  void poison(std::int64_t prompt) override {
    for (auto& value : prompts_[static_cast<std::size_t>(prompt)].values)
      value = std::numeric_limits<float>::quiet_NaN();
  }

  std::vector<PieceResult> run(Verdict& verdict, std::span<const Piece> pieces, Stale stale) override {
    const Sequences sequences(context_, spans_of(pieces));
    const DeviceMatrix x(context_, packed_rows(prompts_, pieces), Stride::padded, stale);
    const DeviceMatrix out(context_, x.view().rows, weight_.rows, x.view().dtype);
    std::vector<const void*> histories_in;
    std::vector<void*> histories_out;
    std::vector<std::int64_t> history_at;
    std::vector<std::shared_ptr<Carried>> captured;
    for (const auto& piece : pieces) {
      auto& carried = captured.emplace_back();
      histories_in.push_back(piece.parent ? piece.parent->matrices[0].data() : nullptr);
      history_at.push_back(piece.capture_at.value_or(0));
      if (piece.capture_at) {
        carried = std::make_shared<Carried>();
        carried->position = piece.from + *piece.capture_at;
        carried->matrices.emplace_back(context_, BMK_CONV_HISTORY, weight_.rows, x.view().dtype,
                                       Stride::tight);
      }
      histories_out.push_back(carried ? carried->matrices[0].data() : nullptr);
    }
    const DeviceArray<const void*> device_in(context_, histories_in);
    const DeviceArray<void*> device_out(context_, histories_out);
    const DeviceArray<std::int64_t> device_at(context_, history_at);
    run_op(*context_, "conv", context_->table().ops->conv,
           bmk_conv_args{.struct_size = sizeof(bmk_conv_args),
                         .numerics = numerics_,
                         .reserved = 0,
                         .sequences = sequences.view(),
                         .x = x.view(),
                         .weight = device_weight_.view(),
                         .out = out.view(),
                         .history_in = device_in.data(),
                         .history_out = device_out.data(),
                         .history_at = device_at.data()});
    const auto rows = out.download(verdict, "out");
    std::vector<PieceResult> results;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (captured[i])
        captured[i]->contents.push_back(captured[i]->matrices[0].download(verdict, "history_out"));
      results.push_back(
          {rows_of(rows, sequences.first_row(static_cast<std::int64_t>(i)), pieces[i].rows()), captured[i]});
    }
    return results;
  }

 private:
  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  HostMatrix weight_;
  std::vector<HostMatrix> prompts_;
  DeviceMatrix device_weight_;
};

// The three rows before row `at`, zeros before the prompt's start.
HostMatrix history_before(const HostMatrix& x, std::int64_t at) {
  HostMatrix history(BMK_CONV_HISTORY, x.columns, x.dtype);
  for (std::int64_t i = 0; i < BMK_CONV_HISTORY; ++i)
    if (const auto from = at - BMK_CONV_HISTORY + i; from >= 0)
      for (std::int64_t channel = 0; channel < x.columns; ++channel)
        history.at(i, channel) = x.at(from, channel);
  return history;
}

// From the prompt's start and after a cut, with the history captured inside the first rows, where it is taken
// from the history in, and at the end.
void check_accuracy(Conv& op, Verdict& verdict, std::int64_t num_prompts) {
  for (std::int64_t prompt = 0; prompt < num_prompts; ++prompt) {
    const auto& x = op.input(prompt);
    const std::int64_t cut = x.rows > BMK_CHUNK_TOKENS ? BMK_CHUNK_TOKENS : 0;
    std::vector<std::int64_t> captures;
    for (const std::int64_t at : {std::int64_t{1}, std::int64_t{2}, x.rows - cut})
      if (at <= x.rows - cut) captures.push_back(at);
    for (std::size_t i = 0; i < captures.size(); ++i) {
      verdict.plan(x.rows - cut, x.columns);
      verdict.plan(BMK_CONV_HISTORY, x.columns);
    }
    std::shared_ptr<const Carried> parent;
    if (cut > 0)
      parent = run_pieces(op, verdict,
                          {{.prompt = prompt, .from = 0, .to = cut, .parent = {}, .capture_at = cut}})[0]
                   .carried;
    const auto expected = oracle::conv(rows_of(x, cut, x.rows - cut), op.weight(), history_before(x, cut));
    for (const auto at : captures) {
      const auto found =
          run_pieces(op, verdict,
                     {{.prompt = prompt, .from = cut, .to = x.rows, .parent = parent, .capture_at = at}})[0];
      verdict.within("out", expected, found.out);
      verdict.same_bits("history_out", history_before(x, cut + at), found.carried->contents[0],
                        "a history is a copy of input rows");
    }
  }
}

}  // namespace

void add_conv(CaseList& list) {
  const std::int64_t channels = list.full() ? 8192 : 256;
  for (const auto numerics : kAllNumerics)
    for (const auto weight : {BMK_BF16, BMK_F32}) {
      const std::vector<std::int64_t> prompt_rows{1, 2, 3, 4, 63, 67, 130};
      list.add("conv", "accuracy", numerics,
               {{"rows", prompt_rows}, {"channels", channels}, {"weight", name_of(weight)}},
               [=](Bench& bench, Verdict& verdict) {
                 Conv op(bench, numerics, weight, channels, prompt_rows);
                 check_accuracy(op, verdict, static_cast<std::int64_t>(prompt_rows.size()));
               });
    }
  for (const auto numerics : kAllNumerics)
    add_sequence_op(list, {"conv",
                           numerics,
                           {{"channels", channels}},
                           true,
                           [=](Bench& bench, const std::vector<std::int64_t>& prompt_rows) {
                             return std::make_unique<Conv>(bench, numerics, BMK_BF16, channels, prompt_rows);
                           }});
}

}  // namespace branchmark::operators
