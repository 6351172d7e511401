// Numbers as people read them. No locale; what is not finite is "-".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace branchmark::html {

// Three significant digits without an exponent: "5.98", "45.8", "136", "2561". `value` is of a size that a
// unit prefix has brought near 1.
std::string significant(double value);

// "5.98 ms", from nanoseconds.
std::string time_text(double ns);
// "780 TFLOP/s", "4.27 TB/s", "15.9 GB": powers of 1,000.
std::string si_text(double value, std::string_view unit);
// "8,192".
std::string count_text(double value);
// "0.88" or "20.2", of a ratio.
std::string ratio_text(double ratio);
// "74%", "0.52%".
std::string percent_text(double share);
// "+1.3%", "-0.4%".
std::string change_text(double share);
// A value of a metric in its unit.
std::string value_text(double value, std::string_view unit);

// A label of an axis: "20 ms" of "20.0 ms".
std::string without_trailing_zeros(const std::string& text);

// A coordinate: two digits, no "-0".
std::string coordinate(double value);

// Of text in UTF-8.
std::size_t num_characters(std::string_view text);
// At most `most` characters; the middle is left out, as both ends of a key say what it is.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace branchmark::html
