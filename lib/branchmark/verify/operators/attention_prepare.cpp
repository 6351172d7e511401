// attention_prepare: norm, rotary and gate split. Queries and keys round up to four times, each rounding
// emulated by the oracle; values are copied, so exact. Three different position rows, in an order of their
// own.
#include <cmath>

#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/attention.hpp"

namespace branchmark::operators {
namespace {

constexpr float kEps = 1e-6f;
constexpr std::int64_t kDim = BMK_ATTENTION_HEAD_DIM;
constexpr std::int64_t kPositions = 1500;
constexpr std::int64_t kSectionHeight = 11;
constexpr std::int64_t kSectionWidth = 10;

struct AttentionShape {
  bmk_numerics numerics = BMK_NUMERICS_DEFAULT;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  bmk_dtype weight = BMK_BF16;
};

HostMatrix rotary_table(bmk_dtype dtype, double (*function)(double)) {
  HostMatrix table(kPositions, BMK_ROTARY_FREQUENCIES, dtype);
  for (std::int64_t position = 0; position < kPositions; ++position)
    for (std::int64_t i = 0; i < BMK_ROTARY_FREQUENCIES; ++i) {
      const double frequency = std::pow(1e7, -2.0 * static_cast<double>(i) / BMK_ROTARY_DIM);
      const double angle = static_cast<double>(position) * frequency;
      table.at(position, i) = stored(static_cast<float>(function(angle)), dtype);
    }
  return table;
}

class AttentionPrepare : public RowOp {
 public:
  AttentionPrepare(Bench& bench, const AttentionShape& shape, std::int64_t rows)
      : context_(bench.context),
        shape_(shape),
        projection_(random_matrix(bench.random, rows, 2 * query_width() + 2 * kv_width(),
                                  activation_of(shape.numerics), 1.5f)),
        query_norm_(random_matrix(bench.random, 1, kDim, shape.weight, 0.25f)),
        key_norm_(random_matrix(bench.random, 1, kDim, shape.weight, 0.25f)),
        cosines_(rotary_table(projection_.dtype, [](double x) { return std::cos(x); })),
        sines_(rotary_table(projection_.dtype, [](double x) { return std::sin(x); })),
        device_projection_(context_, projection_),
        device_query_norm_(context_, query_norm_),
        device_key_norm_(context_, key_norm_),
        device_cosines_(context_, cosines_),
        device_sines_(context_, sines_) {
    for (auto& row : positions_)
      for (std::int64_t i = 0; i < rows; ++i)
        // One below the last, so that a position that is off by one still lies inside of the tables.
        row.push_back(static_cast<std::int32_t>(bench.random.below(kPositions - 1)));
  }

  std::vector<Output> outputs() const override {
    return {{"query", query_width()}, {"keys", kv_width()}, {"values", kv_width()}};
  }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const SequenceSpan span{.rows = rows, .first_position = 0};
    return run_packed(verdict, first, std::span(&span, 1));
  }

  // The rows from `first` on as consecutive sequences; keys and values of all of them stacked again.
  std::vector<HostMatrix> run_packed(Verdict& verdict, std::int64_t first,
                                     std::span<const SequenceSpan> spans) {
    const Sequences sequences(context_, spans);
    const auto rows = sequences.view().num_rows;
    std::vector<std::int32_t> positions;
    for (const auto& row : positions_)
      positions.insert(positions.end(), row.begin() + first, row.begin() + first + rows);
    const DeviceArray<std::int32_t> device_positions(context_, positions);
    const DeviceMatrix query(context_, rows, query_width(), projection_.dtype);
    std::vector<DeviceMatrix> keys;
    std::vector<DeviceMatrix> values;
    std::vector<void*> key_out;
    std::vector<void*> value_out;
    for (const auto& span : spans) {
      key_out.push_back(
          keys.emplace_back(context_, span.rows, kv_width(), projection_.dtype, Stride::tight).data());
      value_out.push_back(
          values.emplace_back(context_, span.rows, kv_width(), projection_.dtype, Stride::tight).data());
    }
    const DeviceArray<void*> device_key_out(context_, key_out);
    const DeviceArray<void*> device_value_out(context_, value_out);
    run_op(*context_, "attention_prepare", context_->table().ops->attention_prepare,
           bmk_attention_prepare_args{.struct_size = sizeof(bmk_attention_prepare_args),
                                      .numerics = shape_.numerics,
                                      .eps = kEps,
                                      .query_heads = shape_.query_heads,
                                      .kv_heads = shape_.kv_heads,
                                      .sequences = sequences.view(),
                                      .projection = rows_of(device_projection_.view(), first, rows),
                                      .query_norm = device_query_norm_.view(),
                                      .key_norm = device_key_norm_.view(),
                                      .cosines = device_cosines_.view(),
                                      .sines = device_sines_.view(),
                                      .positions = device_positions.data(),
                                      .section_height = kSectionHeight,
                                      .section_width = kSectionWidth,
                                      .query = query.view(),
                                      .key_out = device_key_out.data(),
                                      .value_out = device_value_out.data()});
    std::vector<HostMatrix> found_keys;
    std::vector<HostMatrix> found_values;
    for (const auto& matrix : keys) found_keys.push_back(matrix.download(verdict, "keys"));
    for (const auto& matrix : values) found_values.push_back(matrix.download(verdict, "values"));
    return {query.download(verdict, "query"), stacked(found_keys), stacked(found_values)};
  }

  std::vector<oracle::Expected> expected() const override {
    const oracle::RotaryTables rotary{.cosines = &cosines_,
                                      .sines = &sines_,
                                      .positions = positions_,
                                      .section_height = kSectionHeight,
                                      .section_width = kSectionWidth};
    oracle::Expected values(projection_.rows, kv_width());
    for (std::int64_t row = 0; row < projection_.rows; ++row)
      for (std::int64_t i = 0; i < kv_width(); ++i)
        values.at(row, i) = oracle::exactly(double{projection_.at(row, 2 * query_width() + kv_width() + i)});
    return {oracle::attention_heads(projection_, shape_.query_heads, 0, 2 * kDim, query_norm_, kEps, rotary),
            oracle::attention_heads(projection_, shape_.kv_heads, 2 * query_width(), kDim, key_norm_, kEps,
                                    rotary),
            values};
  }

 private:
  std::int64_t query_width() const { return shape_.query_heads * kDim; }
  std::int64_t kv_width() const { return shape_.kv_heads * kDim; }

  std::shared_ptr<Context> context_;
  AttentionShape shape_;
  HostMatrix projection_;
  HostMatrix query_norm_;
  HostMatrix key_norm_;
  HostMatrix cosines_;
  HostMatrix sines_;
  std::array<std::vector<std::int32_t>, 3> positions_;
  DeviceMatrix device_projection_;
  DeviceMatrix device_query_norm_;
  DeviceMatrix device_key_norm_;
  DeviceMatrix device_cosines_;
  DeviceMatrix device_sines_;
};

// Sequences from a prompt's start and after a prefix, one of them without rows, against one sequence.
void check_packed(Bench& bench, Verdict& verdict, const AttentionShape& shape) {
  const SequenceSpan spans[] = {{1, 0}, {63, 64}, {2, 128}, {0, 64}, {65, 0}, {3, 0}, {130, 640}};
  std::int64_t rows = 0;
  for (const auto& span : spans) rows += span.rows;
  AttentionPrepare op(bench, shape, rows);
  const auto outputs = op.outputs();
  for (const auto& output : outputs) verdict.plan(rows, output.columns);
  const auto alone = op.run(verdict, 0, rows);
  const auto packed = op.run_packed(verdict, 0, spans);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    verdict.same_bits(outputs[i].name, alone[i], packed[i],
                      "as seven sequences of 1, 63, 2, 0, 65, 3 and 130 rows and as one");
}

}  // namespace

void add_attention_prepare(CaseList& list) {
  for (const auto numerics : kAllNumerics) {
    const auto add = [&](const AttentionShape& shape) {
      const Parameters sizes{{"query_heads", shape.query_heads},
                             {"kv_heads", shape.kv_heads},
                             {"weight", name_of(shape.weight)}};
      add_row_op(list, {"attention_prepare", numerics, sizes, [=](Bench& bench, std::int64_t rows) {
                          return std::make_unique<AttentionPrepare>(bench, shape, rows);
                        }});
      list.add("attention_prepare", "packed", numerics, sizes,
               [=](Bench& bench, Verdict& verdict) { check_packed(bench, verdict, shape); });
    };
    add(list.full() ? AttentionShape{numerics, 16, 4, BMK_BF16} : AttentionShape{numerics, 2, 1, BMK_BF16});
  }
  list.add("attention_prepare", "packed", BMK_NUMERICS_DEFAULT,
           {{"query_heads", 3}, {"kv_heads", 1}, {"weight", "f32"}}, [](Bench& bench, Verdict& verdict) {
             check_packed(bench, verdict, {BMK_NUMERICS_DEFAULT, 3, 1, BMK_F32});
           });
}

}  // namespace branchmark::operators
