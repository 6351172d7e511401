// A GEMM handle of the ABI, and the functions of its group.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "../device.hpp"
#include "shape_plan.hpp"

namespace branchmark::cuda {

using ShapeKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bmk_dtype,
                            bmk_dtype, bmk_dtype>;

inline ShapeKey key_of(const bmk_gemm_shape& shape) {
  return {shape.n,        shape.k,       shape.x_stride, shape.w_stride,
          shape.y_stride, shape.x_dtype, shape.w_dtype,  shape.y_dtype};
}

// What a handle adds to a shape's plan.
struct PreparedShape {
  explicit PreparedShape(const bmk_gemm_shape& shape) : plan(shape) {}

  ShapePlan plan;
  bool prepared = false;
  std::set<std::int64_t> row_counts;  // that it was prepared for
  // Kind CLASS only.
  bool proven = false;
  bool fixed_holds = true;
  bool from_cache = false;
  std::string class_digest;
  std::int64_t max_timed_rows = 0;  // what the proof had memory for
  double prepare_ms = 0.0;          // spent on search, proof and timing so far
};

extern const bmk_gemm_api kGemmApi;

}  // namespace branchmark::cuda

struct bmk_gemm {
  bmk_device* device = nullptr;
  bmk_gemm_kind kind = BMK_GEMM_DEFAULT;
  bool trust_cache = false;
  std::string cache_file;
  std::string cache_problem;  // why the cache file was not written, empty where it was
  bmk_device_info info{};     // of the device: part of a cache entry's key
  branchmark::cuda::LtContext context;
  std::map<branchmark::cuda::ShapeKey, branchmark::cuda::PreparedShape> shapes;
};
