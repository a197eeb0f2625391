// SPDX-License-Identifier: Apache-2.0
//
// fdbmonitor's conf as a document: text in, sections and keys out, and back.
//
//   # comment                     only as the first thing on a line; `;` likewise
//   [ section ] ignored           blanks around the name and text behind `]` do not count
//   key = value = with = equals   the first `=` divides; both sides are trimmed; no quotes, no
//   escapes key =                         an empty value
//
// Reading is as forgiving as fdbmonitor's, because a file it accepts must be accepted here. What it
// swallows in silence (a line without `=`, an unterminated `[`, a NUL byte that ends the file, a
// key twice) is kept as a Diagnostic with line and column, so that the caller can refuse what
// fdbmonitor would run by accident.
//
// Section and key names compare without regard to ASCII case. A repeated section is merged into the
// first, a repeated key takes the last value and keeps the first spelling and place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::conf {

struct Position {
  std::size_t line = 0;    // from 1; 0 means nowhere in particular
  std::size_t column = 0;  // from 1, in bytes

  bool operator==(const Position&) const = default;
};

enum class Severity { warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  Position at;
  std::string message;

  bool operator==(const Diagnostic&) const = default;
};

// "12:5: error: the section header is not closed; put a ] at its end"
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

struct Entry {
  std::string key;
  std::string value;
  Position at;
};

struct Section {
  std::string name;
  std::vector<Entry> entries;  // in order of first appearance
  Position at;

  // Ignores case; `-` and `_` differ. nullptr when there is none.
  [[nodiscard]] const Entry* find(std::string_view key) const;
};

struct Document {
  std::vector<Section> sections;  // in order of first appearance

  [[nodiscard]] const Section* find(std::string_view name) const;
};

struct ParsedDocument {
  Document document;
  std::vector<Diagnostic> diagnostics;
};

[[nodiscard]] ParsedDocument parse(std::string_view text);

// `key = value` lines under their headers, joined by newlines, with one at the end. Parsing what
// was printed gives the same sections, keys and values.
[[nodiscard]] std::string print(const Document& document);

}  // namespace fdbpack::conf
