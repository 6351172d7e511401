// Compares what an op gave with what it had to give, and fills the record of a case with the result.
//
// Comparisons count themselves as witnesses; a case plans them from its shapes before anything runs, so that
// a comparison that silently did not happen fails the case. Used by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "branchmark/report/case_record.hpp"
#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/oracle/range.hpp"

namespace branchmark::operators {

class Verdict {
 public:
  // `subject` begins every finding: "rms_norm, numerics default".
  Verdict(CaseRecord& record, std::string subject);

  // Announces that `rows` rows of `columns` elements will be compared.
  void plan(std::int64_t rows, std::int64_t columns);

  // Counts what a case compared by itself.
  void count(std::int64_t rows, std::int64_t columns);

  // Every element within its range, or at most `slack_ulps` bf16 ulps outside of it. Metric: max_ulp_bf16,
  // the largest distance to the nominal value, for bf16; relative_l2 for f32.
  void within(const std::string& output, const oracle::Expected& expected, const HostMatrix& found,
              std::int32_t slack_ulps = 0);

  // ‖found − exact‖ <= bound · ‖exact‖ over all elements, row-major in rows of found.columns. Metric:
  // `metric`. Returns the distance.
  double near(const std::string& output, std::span<const double> exact, const HostMatrix& found, double bound,
              const std::string& metric = "relative_l2");

  // Equal stored bits. `situation` ends the message: "rows 3 to 9 alone".
  void same_bits(const std::string& output, const HostMatrix& expected, const HostMatrix& found,
                 const std::string& situation);

  void fail(std::string id, const std::string& message, std::string suggestion = {});
  void warn(std::string id, const std::string& message, std::string suggestion = {});

  // Sets the outcome: pass, fail, or vacuous where nothing was planned.
  void finish();

 private:
  bool same_shape(const std::string& output, std::int64_t rows, std::int64_t columns,
                  const HostMatrix& found);
  void report(std::string id, const std::string& message);
  void raise_metric(const std::string& name, const char* unit, double value);

  CaseRecord& record_;
  std::string subject_;
  std::int64_t failures_ = 0;
};

}  // namespace branchmark::operators
