// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/substitutions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fdbpack::sidecar {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;  // in bytes; 0 when the text is not UTF-8 here
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  std::uint32_t value = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[size] || value > 0x10FFFF || is_surrogate) return {};
  return {value, size};
}

void append_unit(std::string& to, std::uint32_t unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  to += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U})
    to += kHex[(unit >> shift) & 0xFU];
}

void append_escaped(std::string& to, std::uint32_t value) {
  constexpr std::string_view kShort = "\"\\\n\r\t\f\b";
  constexpr std::string_view kLetters = "\"\\nrtfb";
  const auto at = value < 0x80 ? kShort.find(static_cast<char>(value)) : kShort.npos;
  if (at != kShort.npos) {
    to += '\\';
    to += kLetters[at];
  } else if (value >= 0x20 && value <= 0x7E) {
    to += static_cast<char>(value);
  } else if (value < 0x10000) {
    append_unit(to, value);
  } else {
    append_unit(to, 0xD800 + ((value - 0x10000) >> 10U));
    append_unit(to, 0xDC00 + ((value - 0x10000) & 0x3FFU));
  }
}

void append_string(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.size == 0) {
      append_unit(to, 0xDC00U + static_cast<unsigned char>(text[0]));
    } else {
      append_escaped(to, point.value);
    }
    text.remove_prefix(std::max<std::size_t>(point.size, 1));
  }
  to += '"';
}

}  // namespace

void Substitutions::set(std::string_view name, std::optional<std::string> value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.first == name; });
  if (found != entries_.end()) {
    found->second = std::move(value);
  } else {
    entries_.emplace_back(name, std::move(value));
  }
}

const Substitutions::Entry* Substitutions::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.first == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::string_view Substitutions::value(std::string_view name) const {
  const Entry* entry = find(name);
  return entry != nullptr && entry->second ? std::string_view(*entry->second) : std::string_view();
}

bool Substitutions::has_value(std::string_view name) const {
  const Entry* entry = find(name);
  return entry != nullptr && entry->second.has_value();
}

std::vector<std::string> Substitutions::missing() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : entries_) {
    if (!value) names.push_back(name);
  }
  return names;
}

std::string Substitutions::apply(std::string_view conf) const {
  std::string result;
  result.reserve(conf.size());
  while (!conf.empty()) {
    const std::size_t dollar = std::min(conf.find('$'), conf.size());
    result += conf.substr(0, dollar);
    conf.remove_prefix(dollar);
    if (conf.empty()) break;
    const Entry* longest = nullptr;
    for (const Entry& entry : entries_) {
      const bool is_longer = longest == nullptr || entry.first.size() > longest->first.size();
      if (entry.second && is_longer && conf.substr(1).starts_with(entry.first)) longest = &entry;
    }
    result += longest != nullptr ? std::string_view(*longest->second) : conf.substr(0, 1);
    conf.remove_prefix(1 + (longest != nullptr ? longest->first.size() : 0));
  }
  return result;
}

std::string with_plain_newlines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!is_pair) result += text[i] == '\r' ? '\n' : text[i];
  }
  return result;
}

std::string Substitutions::to_json() const {
  std::string text = "{";
  for (const auto& [name, value] : entries_) {
    if (text.size() > 1) text += ", ";
    append_string(text, name);
    text += ": ";
    if (value) {
      append_string(text, *value);
    } else {
      text += "null";
    }
  }
  return text + '}';
}

}  // namespace fdbpack::sidecar
