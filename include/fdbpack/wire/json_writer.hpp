// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON straight into a string, without a tree in between: the status of a thousand processes
// is written often and must not cost memory. Commas and escapes are its business; that begin and
// end match is the caller's, and checked.
//
//   JsonWriter json;
//   json.begin_object().key("pid").value(71).key("argv").begin_array()...end_array().end_object();
//   std::move(json).text()
//
// Text is written as UTF-8; bytes that are none become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fdbpack::wire {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  JsonWriter& null();

  template <class T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }

  // Ends the document.
  [[nodiscard]] std::string text() &&;

 private:
  void separate();

  std::string text_;
  unsigned depth_ = 0;
  bool needs_comma_ = false;
};

void append_json_string(std::string& to, std::string_view text);

}  // namespace fdbpack::wire
