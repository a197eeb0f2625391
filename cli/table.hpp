// SPDX-License-Identifier: Apache-2.0
//
// Rows and columns for people: two blanks between columns, numbers to the right, nothing at the end
// of a line. Control characters in cells are shown, not sent. A column that says nothing in any row
// ("" or "-") is left out.
#pragma once

#include <string>
#include <vector>

namespace fdbpack::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}
  void add(std::vector<std::string> row);
  [[nodiscard]] bool empty() const { return rows_.size() == 1; }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fdbpack::cli
