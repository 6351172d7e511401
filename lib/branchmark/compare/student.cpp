#include "branchmark/compare/student.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace branchmark {

double student_two_sided(double t, std::int64_t degrees) {
  const double angle = std::atan(std::abs(t) / std::sqrt(static_cast<double>(degrees)));
  const double sine = std::sin(angle);
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  // The series in powers of the cosine, each term from the one before it.
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::int64_t k = odd ? 2 : 1; k + 3 <= degrees; k += 2) {
    term *= cosine * cosine * static_cast<double>(k) / static_cast<double>(k + 1);
    sum += term;
  }
  const double within = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - within, 0.0, 1.0);
}

double student_95(std::int64_t degrees) {
  double low = 1.9;    // below the normal distribution's 1.96
  double high = 12.8;  // above that of one degree of freedom
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace branchmark
