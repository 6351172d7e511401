#include "lib/verify/mathematics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace branchmark::test {
namespace {

using Row = std::vector<double>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double silu(double x) {
  return x * sigmoid(x);
}
double softplus(double x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}
double dot(const double* a, const double* b, std::size_t count) {
  return std::inner_product(a, a + count, b, 0.0);
}

// W x, W [outputs, inputs].
Row times(const Row& weight, const Row& x) {
  Row y(weight.size() / x.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = dot(weight.data() + i * x.size(), x.data(), x.size());
  return y;
}

void normalise(double* x, std::size_t count, double eps) {
  const double scale = 1 / std::sqrt(dot(x, x, count) / static_cast<double>(count) + eps);
  for (std::size_t i = 0; i < count; ++i) x[i] *= scale;
}

Row rms_norm(Row x, const Row& weight, double eps) {
  normalise(x.data(), x.size(), eps);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 1 + weight[i];
  return x;
}

void add(Row& x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// One layer over all tokens of a prompt, in order. `rows` holds normed inputs and gets what is added.
class Layer {
 public:
  Layer(const ModelConfig& config, const Tensors& tensors, std::size_t index)
      : config_(config), tensors_(tensors), prefix_("layers." + std::to_string(index) + ".") {}

  const Row& at(const std::string& name) const { return tensors_.at(prefix_ + name); }

  Row mlp(const Row& x) const {
    auto gate = times(at("mlp.gate_proj.weight"), x);
    const auto up = times(at("mlp.up_proj.weight"), x);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = silu(gate[i]) * up[i];
    return times(at("mlp.down_proj.weight"), gate);
  }

  std::vector<Row> gated_delta_net(const std::vector<Row>& rows) const {
    constexpr std::size_t kDim = 128;
    const auto key_heads = static_cast<std::size_t>(config_.key_heads);
    const auto value_heads = static_cast<std::size_t>(config_.value_heads);
    const auto eps = static_cast<double>(config_.rms_eps);
    std::vector<Row> taps;
    std::vector<Row> states(value_heads, Row(kDim * kDim, 0.0));
    std::vector<Row> out;
    for (const auto& x : rows) {
      taps.push_back(times(at("linear_attn.in_proj_qkv.weight"), x));
      auto qkv = convolved(taps);
      const auto z = times(at("linear_attn.in_proj_z.weight"), x);
      const auto b = times(at("linear_attn.in_proj_b.weight"), x);
      const auto a = times(at("linear_attn.in_proj_a.weight"), x);
      for (std::size_t head = 0; head < 2 * key_heads; ++head) unit(&qkv[head * kDim]);
      Row gated(value_heads * kDim);
      for (std::size_t head = 0; head < value_heads; ++head) {
        const auto key_head = head * key_heads / value_heads;
        const auto* q = &qkv[key_head * kDim];
        const auto* k = &qkv[(key_heads + key_head) * kDim];
        const auto* v = &qkv[(2 * key_heads + head) * kDim];
        const double decay = std::exp(-std::exp(at("linear_attn.A_log")[head]) *
                                      softplus(a[head] + at("linear_attn.dt_bias")[head]));
        auto o = step(states[head], q, k, v, decay, sigmoid(b[head]));
        normalise(o.data(), kDim, eps);
        for (std::size_t i = 0; i < kDim; ++i)
          gated[head * kDim + i] = at("linear_attn.norm.weight")[i] * o[i] * silu(z[head * kDim + i]);
      }
      out.push_back(times(at("linear_attn.out_proj.weight"), gated));
    }
    return out;
  }

  std::vector<Row> attention(const std::vector<Row>& rows, const Prompt& prompt) const {
    constexpr std::size_t kDim = 256;
    const auto heads = static_cast<std::size_t>(config_.query_heads);
    const auto kv_heads = static_cast<std::size_t>(config_.kv_heads);
    const auto eps = static_cast<double>(config_.rms_eps);
    std::vector<Row> keys, values, out;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const auto query_and_gate = times(at("self_attn.q_proj.weight"), rows[t]);
      keys.push_back(times(at("self_attn.k_proj.weight"), rows[t]));
      values.push_back(times(at("self_attn.v_proj.weight"), rows[t]));
      for (std::size_t head = 0; head < kv_heads; ++head)
        turned(&keys.back()[head * kDim], at("self_attn.k_norm.weight"), eps, prompt, t);
      Row gated(heads * kDim);
      for (std::size_t head = 0; head < heads; ++head) {
        Row q(query_and_gate.begin() + static_cast<std::ptrdiff_t>(2 * head * kDim),
              query_and_gate.begin() + static_cast<std::ptrdiff_t>((2 * head + 1) * kDim));
        turned(q.data(), at("self_attn.q_norm.weight"), eps, prompt, t);
        const auto offset = head * kv_heads / heads * kDim;
        Row scores(t + 1);
        for (std::size_t s = 0; s <= t; ++s) scores[s] = dot(q.data(), &keys[s][offset], kDim) / 16;
        const double most = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (auto& score : scores) sum += score = std::exp(score - most);
        for (std::size_t i = 0; i < kDim; ++i) {
          double o = 0;
          for (std::size_t s = 0; s <= t; ++s) o += scores[s] * values[s][offset + i];
          gated[head * kDim + i] = o / sum * sigmoid(query_and_gate[(2 * head + 1) * kDim + i]);
        }
      }
      out.push_back(times(at("self_attn.o_proj.weight"), gated));
    }
    return out;
  }

 private:
  // The newest four rows under the taps, oldest first, then SiLU.
  Row convolved(const std::vector<Row>& rows) const {
    const auto& weight = at("linear_attn.conv1d.weight");
    Row y(rows.back().size(), 0.0);
    for (std::size_t channel = 0; channel < y.size(); ++channel) {
      for (std::size_t back = 0; back < 4 && back < rows.size(); ++back)
        y[channel] += weight[channel * 4 + 3 - back] * rows[rows.size() - 1 - back][channel];
      y[channel] = silu(y[channel]);
    }
    return y;
  }

  static void unit(double* x) {
    const double scale = 1 / std::sqrt(dot(x, x, 128) + 1e-6);
    for (std::size_t i = 0; i < 128; ++i) x[i] *= scale;
  }

  // One token of the delta rule; the query's factor 128^-1/2 is applied to what is read.
  static Row step(Row& state, const double* q, const double* k, const double* v, double decay, double beta) {
    for (auto& element : state) element *= decay;
    Row o(128, 0.0);
    for (std::size_t j = 0; j < 128; ++j) {
      double read = 0;
      for (std::size_t i = 0; i < 128; ++i) read += state[i * 128 + j] * k[i];
      const double u = beta * (v[j] - read);
      for (std::size_t i = 0; i < 128; ++i) {
        state[i * 128 + j] += k[i] * u;
        o[j] += state[i * 128 + j] * q[i];
      }
      o[j] /= std::sqrt(128.0);
    }
    return o;
  }

  // Norm over the head, then rotary on its first 64 dimensions.
  void turned(double* x, const Row& weight, double eps, const Prompt& prompt, std::size_t t) const {
    normalise(x, 256, eps);
    for (std::size_t i = 0; i < 256; ++i) x[i] *= 1 + weight[i];
    for (std::size_t i = 0; i < 32; ++i) {
      std::size_t axis = 0;
      if (i % 3 == 1 && static_cast<std::int64_t>(i) < 3 * config_.mrope_section[1]) axis = 1;
      if (i % 3 == 2 && static_cast<std::int64_t>(i) < 3 * config_.mrope_section[2]) axis = 2;
      const auto position = prompt.positions.empty() ? static_cast<float>(t)
                                                     : static_cast<float>(prompt.positions.rows[axis][t]);
      // The angle is float32 by definition, not by rounding.
      const auto frequency =
          static_cast<float>(std::pow(config_.rope_theta, -2.0 * static_cast<double>(i) / 64));
      const double angle = position * frequency;
      const double a = x[i], b = x[i + 32];
      x[i] = a * std::cos(angle) - b * std::sin(angle);
      x[i + 32] = b * std::cos(angle) + a * std::sin(angle);
    }
  }

  const ModelConfig& config_;
  const Tensors& tensors_;
  std::string prefix_;
};

}  // namespace

std::vector<double> last_hidden(const ModelConfig& config, const Tensors& tensors, const Prompt& prompt) {
  const auto hidden = static_cast<std::size_t>(config.hidden);
  const auto eps = static_cast<double>(config.rms_eps);
  const auto normed = [&](const std::vector<Row>& rows, const Row& weight) {
    std::vector<Row> result;
    for (const auto& row : rows) result.push_back(rms_norm(row, weight, eps));
    return result;
  };
  std::vector<Row> x;
  for (const auto token : prompt.tokens) {
    const auto begin = tensors.at("embed_tokens.weight").begin() + token * config.hidden;
    x.emplace_back(begin, begin + config.hidden);
  }
  for (std::size_t index = 0; index < config.layers.size(); ++index) {
    const Layer layer(config, tensors, index);
    const auto inputs = normed(x, layer.at("input_layernorm.weight"));
    const auto mixed = config.layers[index] == LayerKind::gdn ? layer.gated_delta_net(inputs)
                                                              : layer.attention(inputs, prompt);
    for (std::size_t t = 0; t < x.size(); ++t) {
      add(x[t], mixed[t]);
      add(x[t], layer.mlp(rms_norm(x[t], layer.at("post_attention_layernorm.weight"), eps)));
    }
  }
  std::vector<double> rows;
  rows.reserve(x.size() * hidden);
  for (const auto& row : normed(x, tensors.at("norm.weight")))
    rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

}  // namespace branchmark::test
