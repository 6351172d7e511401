#include "gemm.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "../stream.hpp"
#include "../validate.hpp"
#include "describe.hpp"
#include "prepare.hpp"
#include "reference_gemm.hpp"

namespace branchmark::cuda {
namespace {

bool is_bf16_product(const bmk_gemm_shape& shape) {
  return shape.x_dtype == BMK_BF16 && shape.w_dtype == BMK_BF16 && shape.y_dtype == BMK_BF16;
}

void require_shape(const bmk_gemm_shape* shape) {
  require_pointer(shape, "gemm: shape");
  require_at_least(shape->n, 1, "gemm: n");
  require_at_least(shape->k, 1, "gemm: k");
  const auto require_stride = [](std::int64_t stride, std::int64_t columns, const char* name) {
    require_at_least(stride, columns, name);
    require_equal(stride % kStrideMultiple, 0, (std::string(name) + " mod 8").c_str());
  };
  require_stride(shape->x_stride, shape->k, "gemm: x_stride");
  require_stride(shape->w_stride, shape->k, "gemm: w_stride");
  require_stride(shape->y_stride, shape->n, "gemm: y_stride");
  if (!is_bf16_product(*shape) && !is_reference_product(*shape))
    fail(BMK_UNSUPPORTED, std::string("gemm: x of ") + name_of(shape->x_dtype) + ", w of " +
                              name_of(shape->w_dtype) + ", y of " + name_of(shape->y_dtype) +
                              " (bf16 throughout, or y like x with x or w of f32)");
}

// Validates the matrices of a product.
bmk_gemm_shape require_product(const bmk_gemm_args* args) {
  require_args(args, "gemm");
  const bmk_matrix& x = args->x;
  const bmk_matrix& w = args->w;
  const bmk_matrix& y = args->y;
  require_matrix(x, "gemm: x");
  require_weight(w, "gemm: w", w.rows, x.columns);
  require_matrix(y, "gemm: y", x.rows, w.rows, y.dtype);
  const bmk_gemm_shape shape = {
      w.rows, w.columns, x.row_stride, w.row_stride, y.row_stride, x.dtype, w.dtype, y.dtype, 0};
  require_shape(&shape);
  return shape;
}

PreparedShape& prepared_shape(bmk_gemm& gemm, const bmk_gemm_shape& shape) {
  const auto found = gemm.shapes.find(key_of(shape));
  if (found == gemm.shapes.end() || !found->second.prepared)
    fail(BMK_INVALID_ARGUMENT, std::string("gemm: the ") + name_of_kind(gemm.kind) +
                                   " handle was not prepared for N = " + std::to_string(shape.n) +
                                   ", K = " + std::to_string(shape.k) + ", strides " +
                                   std::to_string(shape.x_stride) + ", " + std::to_string(shape.w_stride) +
                                   ", " + std::to_string(shape.y_stride) + "; call prepare first");
  return found->second;
}

ShapePlan& plan_to_run(bmk_gemm& gemm, const bmk_gemm_shape& shape) {
  if (gemm.kind == BMK_GEMM_DEFAULT) return gemm.shapes.try_emplace(key_of(shape), shape).first->second.plan;
  return prepared_shape(gemm, shape).plan;
}

struct Choice {
  const Algorithm* algorithm;
  std::int64_t index;
};

Choice choose(const bmk_gemm& gemm, ShapePlan& plan, std::int64_t rows) {
  if (gemm.kind == BMK_GEMM_DEFAULT && !plan.is_reference()) {
    const ShapePlan::DefaultChoice& choice = plan.default_choice(gemm.context, rows);
    return {&choice.algorithm, choice.index};
  }
  std::int64_t index = 0;
  if (!plan.is_reference())
    index = gemm.kind == BMK_GEMM_FIXED ? plan.fixed_choice(gemm.context, rows)
                                        : plan.class_choice(gemm.context, rows);
  return {&plan.algorithms()[static_cast<std::size_t>(index)], index};
}

// `algorithm` says nothing of the reference product.
void multiply(const bmk_gemm& gemm, const bmk_gemm_shape& shape, const bmk_gemm_args& args,
              const Algorithm& algorithm, cudaStream_t queue) {
  if (is_reference_product(shape)) return reference_gemm(args, queue);
  cuda::multiply(gemm.context, Problem(shape, args.x.rows), algorithm, args.x.data, args.w.data, args.y.data,
                 queue);
}

const Algorithm& algorithm_at(const ShapePlan& plan, std::int64_t index) {
  const auto count = static_cast<std::int64_t>(plan.algorithms().size());
  if (index < 0 || index >= count)
    fail(BMK_INVALID_ARGUMENT,
         "gemm: algorithm index is " + std::to_string(index) + ", wanted 0 to " + std::to_string(count - 1));
  return plan.algorithms()[static_cast<std::size_t>(index)];
}

// Text that fits is written whole, else cut; always NUL-terminated where there is room for a NUL.
void write_text(const std::string& text, char* destination, std::int64_t capacity) {
  if (capacity <= 0) return;
  require_pointer(destination, "gemm: text");
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(capacity - 1));
  std::memcpy(destination, text.data(), length);
  destination[length] = '\0';
}

bmk_status gemm_create(bmk_device* device, const bmk_gemm_options* options, bmk_gemm** gemm) {
  return guarded([&] {
    require_pointer(gemm, "gemm.create: gemm");
    *gemm = nullptr;
    activate(device);
    require_args(options, "gemm.create");
    if (options->kind != BMK_GEMM_DEFAULT && options->kind != BMK_GEMM_FIXED &&
        options->kind != BMK_GEMM_CLASS)
      fail(BMK_INVALID_ARGUMENT,
           "gemm.create: kind is " + std::to_string(options->kind) + ", wanted 0, 1 or 2");
    auto created = std::make_unique<bmk_gemm>();
    created->device = device;
    created->kind = options->kind;
    created->trust_cache = options->trust_cache != 0;
    created->cache_file = options->cache_file == nullptr ? "" : options->cache_file;
    created->info = describe_device(device->ordinal);
    *gemm = created.release();
  });
}

void gemm_destroy(bmk_gemm* gemm) {
  if (gemm == nullptr) return;
  static_cast<void>(guarded([&] { activate(gemm->device); }));
  delete gemm;
}

bmk_status gemm_prepare(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_shape* shape,
                        const std::int64_t* row_counts, std::int64_t num_row_counts) {
  return guarded([&] {
    require_pointer(gemm, "gemm.prepare: gemm");
    activate(stream);
    require_shape(shape);
    require_at_least(num_row_counts, 0, "gemm.prepare: num_row_counts");
    if (num_row_counts > 0) require_pointer(row_counts, "gemm.prepare: row_counts");
    const std::span<const std::int64_t> counts(row_counts, static_cast<std::size_t>(num_row_counts));
    for (const std::int64_t rows : counts) require_at_least(rows, 0, "gemm.prepare: row count");
    prepare_shape(*gemm, stream, *shape, counts);
  });
}

bmk_status gemm_run(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args) {
  return guarded([&] {
    require_pointer(gemm, "gemm.run: gemm");
    const cudaStream_t queue = activate(stream);
    const bmk_gemm_shape shape = require_product(args);
    ShapePlan& plan = plan_to_run(*gemm, shape);
    if (args->x.rows > 0) multiply(*gemm, shape, *args, *choose(*gemm, plan, args->x.rows).algorithm, queue);
  });
}

bmk_status gemm_num_algorithms(bmk_gemm* gemm, const bmk_gemm_shape* shape, std::int64_t* count) {
  return guarded([&] {
    require_pointer(gemm, "gemm.num_algorithms: gemm");
    require_pointer(count, "gemm.num_algorithms: count");
    require_shape(shape);
    *count = static_cast<std::int64_t>(prepared_shape(*gemm, *shape).plan.algorithms().size());
  });
}

bmk_status gemm_describe_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, std::int64_t index,
                                   bmk_gemm_algorithm* algorithm) {
  return guarded([&] {
    require_pointer(gemm, "gemm.describe_algorithm: gemm");
    require_args(algorithm, "gemm.describe_algorithm");
    require_shape(shape);
    const Algorithm& known = algorithm_at(prepared_shape(*gemm, *shape).plan, index);
    write_text(known.fingerprint, algorithm->fingerprint, sizeof algorithm->fingerprint);
    algorithm->split_k = is_unsplit(known.settings) ? 1 : known.settings.split_k;
    algorithm->in_class = known.in_class ? 1 : 0;
    algorithm->reserved = 0;
  });
}

bmk_status gemm_run_algorithm(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args,
                              std::int64_t index) {
  return guarded([&] {
    require_pointer(gemm, "gemm.run_algorithm: gemm");
    const cudaStream_t queue = activate(stream);
    const bmk_gemm_shape shape = require_product(args);
    ShapePlan& plan = prepared_shape(*gemm, shape).plan;
    const Algorithm& algorithm = algorithm_at(plan, index);
    const std::int64_t rows = args->x.rows;
    if (rows == 0) return;
    if (!plan.is_reference() && !plan.serves(gemm->context, index, rows))
      fail(BMK_UNSERVED_SIZE, "the GEMM algorithm (" + algorithm.fingerprint + ") cannot serve " +
                                  size_text(shape, rows) + "; nothing ran");
    multiply(*gemm, shape, *args, algorithm, queue);
  });
}

bmk_status gemm_chosen_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, std::int64_t rows,
                                 std::int64_t* index) {
  return guarded([&] {
    require_pointer(gemm, "gemm.chosen_algorithm: gemm");
    require_pointer(index, "gemm.chosen_algorithm: index");
    require_shape(shape);
    require_at_least(rows, 1, "gemm.chosen_algorithm: rows");
    *index = choose(*gemm, prepared_shape(*gemm, *shape).plan, rows).index;
  });
}

bmk_status gemm_describe(bmk_gemm* gemm, char* text, std::int64_t capacity, std::int64_t* length) {
  return guarded([&] {
    require_pointer(gemm, "gemm.describe: gemm");
    require_pointer(length, "gemm.describe: length");
    const std::string json = describe_gemm(*gemm);
    *length = static_cast<std::int64_t>(json.size());
    write_text(json, text, capacity);
  });
}

}  // namespace

const bmk_gemm_api kGemmApi = {
    .struct_size = sizeof(bmk_gemm_api),
    .create = gemm_create,
    .destroy = gemm_destroy,
    .prepare = gemm_prepare,
    .run = gemm_run,
    .num_algorithms = gemm_num_algorithms,
    .describe_algorithm = gemm_describe_algorithm,
    .run_algorithm = gemm_run_algorithm,
    .chosen_algorithm = gemm_chosen_algorithm,
    .describe = gemm_describe,
};

}  // namespace branchmark::cuda
