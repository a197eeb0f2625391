// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/headers.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"

namespace fdbpack::http {

void Headers::add(std::string_view name, std::string_view value) {
  FDBPACK_CHECK(text_.size() + name.size() + value.size() < UINT32_MAX);
  marks_.push_back({static_cast<std::uint32_t>(text_.size()),
                    static_cast<std::uint32_t>(name.size()),
                    static_cast<std::uint32_t>(value.size())});
  text_ += name;
  text_ += value;
}

void Headers::clear() {
  text_.clear();
  marks_.clear();
}

Headers::Field Headers::operator[](std::size_t index) const {
  const Mark& mark = marks_[index];
  const std::string_view text = text_;
  return {text.substr(mark.begin, mark.name_size),
          text.substr(mark.begin + mark.name_size, mark.value_size)};
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const Field field = (*this)[i];
    if (field.name.size() == name.size() && text::compare_ignoring_case(field.name, name) == 0) {
      return field.value;
    }
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (text::compare_ignoring_case((*this)[i].name, name) == 0) ++found;
  }
  return found;
}

std::string Headers::joined(std::string_view name) const {
  std::string result;
  for (std::size_t i = 0; i < size(); ++i) {
    const Field field = (*this)[i];
    if (text::compare_ignoring_case(field.name, name) != 0) continue;
    if (!result.empty()) result += ", ";
    result += field.value;
  }
  return result;
}

}  // namespace fdbpack::http
