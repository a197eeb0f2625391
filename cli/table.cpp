// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include "cli/screen.hpp"

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

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row)
    cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns);
  std::vector<bool> is_right(columns, true);
  std::vector<bool> is_shown(columns, empty());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string& cell = rows_[r][c];
      widths[c] = std::max(widths[c], width(cell));
      if (r == 0) continue;
      if (!is_number(cell)) is_right[c] = false;
      if (!cell.empty() && cell != "-") is_shown[c] = true;
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      if (!is_shown[c]) continue;
      const std::string padding(widths[c] - width(row[c]), ' ');
      line += (line.empty() ? "" : "  ") + (is_right[c] ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace fdbpack::cli
