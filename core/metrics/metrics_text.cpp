// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/metrics/metrics_text.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/metrics/names.hpp"

#include <array>
#include <charconv>

namespace fdbpack::metrics {

void MetricsText::family(std::string_view name, Kind kind, std::string_view help) {
  FDBPACK_CHECK(is_metric_name(name));
  name_ = name;
  head_ = "# HELP " + name_ + ' ';
  for (const char c : help) {
    if (c == '\\') {
      head_ += "\\\\";
    } else if (c == '\n') {
      head_ += "\\n";
    } else {
      head_ += c;
    }
  }
  head_ += "\n# TYPE " + name_ + (kind == Kind::counter ? " counter\n" : " gauge\n");
}

void MetricsText::begin_sample(std::initializer_list<Label> labels) {
  FDBPACK_CHECK(!name_.empty());
  text_ += std::exchange(head_, std::string());
  text_ += name_;
  bool is_first = true;
  for (const auto& [name, value] : labels) {
    FDBPACK_CHECK(is_label_name(name));
    text_ += is_first ? '{' : ',';
    is_first = false;
    text_ += name;
    text_ += "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') text_ += '\\';
      if (c == '\n') {
        text_ += "\\n";
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }
  text_ += is_first ? " " : "} ";
}

void MetricsText::sample(std::initializer_list<Label> labels, std::uint64_t value) {
  begin_sample(labels);
  text_ += std::to_string(value) + '\n';
}

void MetricsText::sample(std::initializer_list<Label> labels, double value) {
  begin_sample(labels);
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
  text_ += '\n';
}

}  // namespace fdbpack::metrics
