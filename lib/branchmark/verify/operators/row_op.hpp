// Cases that every op on independent rows shares: accuracy, and the bits of a row for any number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/verify/operators/case_list.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {

// One op with inputs of some rows in device memory.
class RowOp {
 public:
  struct Output {
    std::string name;
    std::int64_t columns = 0;
  };

  RowOp() = default;
  RowOp(const RowOp&) = delete;
  RowOp& operator=(const RowOp&) = delete;
  virtual ~RowOp() = default;

  virtual std::vector<Output> outputs() const = 0;
  // Runs the op on rows [first, first + rows) of the inputs, into poisoned outputs.
  virtual std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) = 0;
  // What each output must hold when the op ran on all rows.
  virtual std::vector<oracle::Expected> expected() const = 0;
  // More that must hold of the outputs of all rows.
  virtual void check_further(Verdict&, const std::vector<HostMatrix>&) {}
};

struct RowOpCases {
  std::string op;
  bmk_numerics numerics = BMK_NUMERICS_DEFAULT;
  Parameters sizes;  // other than rows
  // Makes the op with inputs of `rows` rows.
  std::function<std::unique_ptr<RowOp>(Bench&, std::int64_t rows)> make;
};

// Adds `accuracy` over 257 rows and `row_bits` up to 1,000 rows (8,192 in a full list): the rows of calls of
// 1, 2, 7, 64, 65, 257, ... rows, from the start, the middle and the end of the inputs (more than 1,000 from
// the end alone), equal those of one call; zero rows succeed and write nothing.
void add_row_op(CaseList& list, const RowOpCases& cases);

}  // namespace branchmark::operators
