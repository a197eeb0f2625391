// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/order.hpp"

#include "fdbpack/base/text.hpp"

namespace fdbpack::place {
namespace {

// The digits at the front of `rest`, which loses them; without leading zeros.
std::string_view take_number(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && text::is_digit(rest[end]))
    ++end;
  std::string_view number = rest.substr(0, end);
  rest.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0')
    number.remove_prefix(1);
  return number;
}

}  // namespace

int compare_ids(std::string_view a, std::string_view b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (text::is_digit(left.front()) && text::is_digit(right.front())) {
      const std::string_view x = take_number(left);
      const std::string_view y = take_number(right);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y); order != 0) return order;
      continue;
    }
    if (left.front() != right.front()) return left.front() < right.front() ? -1 : 1;
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  if (left.empty() != right.empty()) return left.empty() ? -1 : 1;
  return a.compare(b);
}

}  // namespace fdbpack::place
