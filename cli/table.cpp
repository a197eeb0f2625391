// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <algorithm>

namespace fdbpack::cli {
namespace {

bool is_number(const std::string& text) {
  const bool has_digit = text.find_first_of("0123456789") != std::string::npos;
  return has_digit && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || c == '.' || c == '-';
         });
}

}  // namespace

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns);
  std::vector<bool> is_right(columns, true);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], rows_[r][c].size());
      if (r > 0 && !is_number(rows_[r][c])) is_right[c] = false;
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string padding(widths[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (is_right[c] ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace fdbpack::cli
