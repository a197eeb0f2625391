// SPDX-License-Identifier: Apache-2.0
//
// The fields of a message, in order. All names and values lie in one string, so that a connection
// can read thousands of requests into the same Headers without allocating again.
//
//   text_  |Host|127.0.0.1|Accept|*/*|
//   marks_ {begin, name size, value size} of each field
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http {

class Headers {
 public:
  struct Field {
    std::string_view name, value;
  };

  void add(std::string_view name, std::string_view value);
  void clear();

  [[nodiscard]] std::size_t size() const { return marks_.size(); }
  [[nodiscard]] bool empty() const { return marks_.empty(); }
  // Views live until the next add() or clear().
  [[nodiscard]] Field operator[](std::size_t index) const;
  // The first field of this name; names do not differ by case.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  // Every field of this name as one list: "a, b".
  [[nodiscard]] std::string joined(std::string_view name) const;

 private:
  struct Mark {
    std::uint32_t begin, name_size, value_size;
  };
  std::string text_;
  std::vector<Mark> marks_;
};

}  // namespace fdbpack::http
