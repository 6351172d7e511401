// The GEMM handles of the ABI.
#include <cstring>

#include "entry/api.hpp"
#include "entry/boundary.hpp"
#include "entry/check.hpp"
#include "gemm/handle.hpp"

namespace branchmark::cpu {
namespace {

// The product that a shape stands for, of `rows` rows, without data: lets a shape go through the checks of
// the matrices.
bmk_gemm_args product_of(const bmk_gemm_shape& shape, int64_t rows) {
  bmk_gemm_args args{};
  args.struct_size = sizeof args;
  args.x = {nullptr, rows, shape.k, shape.x_stride, shape.x_dtype, 0};
  args.w = {nullptr, shape.n, shape.k, shape.w_stride, shape.w_dtype, 0};
  args.y = {nullptr, rows, shape.n, shape.y_stride, shape.y_dtype, 0};
  return args;
}

bmk_gemm_shape shape_of(const bmk_gemm_args& args) {
  return {args.w.rows,       args.w.columns,    args.x.row_stride,
          args.w.row_stride, args.y.row_stride, args.x.dtype,
          args.w.dtype,      args.y.dtype,      0};
}

void check_product(const bmk_gemm_args* args, Pointers pointers) {
  const Check check("gemm", args, pointers);
  check.at_least("w.rows (N)", args->w.rows, 1);
  check.at_least("w.columns (K)", args->w.columns, 1);
  check.matrix("x", args->x, args->x.rows, args->w.columns);
  check.matrix("w", args->w, args->w.rows, args->w.columns);
  check.matrix("y", args->y, args->x.rows, args->w.rows);
}

void check_shape(const bmk_gemm_shape* shape) {
  require(shape, "shape");
  const bmk_gemm_args args = product_of(*shape, 1);
  check_product(&args, Pointers::kIgnored);
}

void check_index(int64_t index) {
  if (index >= 0 && index < kNumGemmAlgorithms) return;
  throw Failure{BMK_INVALID_ARGUMENT, "gemm: algorithm index is " + std::to_string(index) + ", wanted 0 to " +
                                          std::to_string(kNumGemmAlgorithms - 1)};
}

bmk_status create(bmk_device* device, const bmk_gemm_options* options, bmk_gemm** gemm) {
  return guarded([&] {
    require(gemm, "gemm");
    *gemm = nullptr;
    require(device, "device");
    require(options, "options");
    require_struct_size("options", options->struct_size, sizeof(bmk_gemm_options));
    const bmk_gemm_kind kind = options->kind;
    if (kind != BMK_GEMM_DEFAULT && kind != BMK_GEMM_FIXED && kind != BMK_GEMM_CLASS) {
      throw Failure{BMK_INVALID_ARGUMENT, "gemm: options.kind is " + std::to_string(kind) +
                                              ", wanted 0 (default), 1 (fixed) or 2 (class)"};
    }
    *gemm = new bmk_gemm{GemmHandle(*device, kind)};
  });
}

void destroy(bmk_gemm* gemm) {
  delete gemm;
}

bmk_status prepare(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_shape* shape, const int64_t* row_counts,
                   int64_t num_row_counts) {
  return guarded([&] {
    require(gemm, "gemm");
    require(stream, "stream");
    check_shape(shape);
    if (num_row_counts > 0) require(row_counts, "row_counts");
    gemm->handle.prepare(*shape, row_counts, num_row_counts);
  });
}

bmk_status run(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args) {
  return guarded([&] {
    require(gemm, "gemm");
    require(stream, "stream");
    check_product(args, Pointers::kChecked);
    gemm->handle.run(gemm->handle.chosen(shape_of(*args), args->x.rows), *args);
  });
}

bmk_status num_algorithms(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t* count) {
  return guarded([&] {
    require(gemm, "gemm");
    require(count, "count");
    check_shape(shape);
    gemm->handle.prepared(*shape);
    *count = kNumGemmAlgorithms;
  });
}

bmk_status describe_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t index,
                              bmk_gemm_algorithm* algorithm) {
  return guarded([&] {
    require(gemm, "gemm");
    require(algorithm, "algorithm");
    require_struct_size("algorithm", algorithm->struct_size, sizeof(bmk_gemm_algorithm));
    check_shape(shape);
    check_index(index);
    const GemmHandle::Shape& entry = gemm->handle.prepared(*shape);
    const GemmAlgorithm& known = kGemmAlgorithms[index];
    memset(algorithm->fingerprint, 0, sizeof algorithm->fingerprint);
    strncpy(algorithm->fingerprint, known.fingerprint, sizeof algorithm->fingerprint - 1);
    algorithm->split_k = known.split_k;
    algorithm->in_class = entry.table.in_class[static_cast<std::size_t>(index)] ? 1 : 0;
    algorithm->reserved = 0;
  });
}

bmk_status run_algorithm(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args, int64_t index) {
  return guarded([&] {
    require(gemm, "gemm");
    require(stream, "stream");
    check_product(args, Pointers::kChecked);
    check_index(index);
    gemm->handle.prepared(shape_of(*args));
    gemm->handle.run(index, *args);
  });
}

bmk_status chosen_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, int64_t rows, int64_t* index) {
  return guarded([&] {
    require(gemm, "gemm");
    require(index, "index");
    check_shape(shape);
    *index = gemm->handle.chosen(*shape, rows);
  });
}

bmk_status describe_handle(bmk_gemm* gemm, char* text, int64_t capacity, int64_t* length) {
  return guarded([&] {
    require(gemm, "gemm");
    require(length, "length");
    if (capacity > 0) require(text, "text");
    const std::string full = describe(gemm->handle);
    *length = static_cast<int64_t>(full.size());
    if (capacity <= 0) return;
    const int64_t written = *length < capacity ? *length : capacity - 1;
    memcpy(text, full.data(), static_cast<std::size_t>(written));
    text[written] = '\0';
  });
}

}  // namespace

const bmk_gemm_api kGemmApi{
    .struct_size = sizeof(bmk_gemm_api),
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .run = run,
    .num_algorithms = num_algorithms,
    .describe_algorithm = describe_algorithm,
    .run_algorithm = run_algorithm,
    .chosen_algorithm = chosen_algorithm,
    .describe = describe_handle,
};

}  // namespace branchmark::cpu
