// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/base64.hpp"

#include <array>
#include <cstdint>

namespace fdbpack {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 0xFF;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values)
    value = kNone;
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr auto kValues = make_values();

std::uint32_t byte(char c) {
  return static_cast<unsigned char>(c);
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  std::size_t i = 0;
  const auto put = [&result](std::uint32_t group, int letters) {
    for (int n = 0; n < 4; ++n) {
      result += n < letters ? kLetters[(group >> (18 - 6 * n)) & 63] : '=';
    }
  };
  for (; i + 3 <= bytes.size(); i += 3) {
    put(byte(bytes[i]) << 16 | byte(bytes[i + 1]) << 8 | byte(bytes[i + 2]), 4);
  }
  if (bytes.size() - i == 1) put(byte(bytes[i]) << 16, 2);
  if (bytes.size() - i == 2) put(byte(bytes[i]) << 16 | byte(bytes[i + 1]) << 8, 3);
  return result;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
    ++padding;
  std::string result;
  result.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  const std::size_t letters = text.size() - padding;
  for (std::size_t i = 0; i < letters; ++i) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(text[i])];
    if (value == kNone) return std::nullopt;
    group = group << 6 | value;
    if (i % 4 == 0) continue;
    const auto shift = 6 - 2 * (i % 4);
    result += static_cast<char>(group >> shift & 0xFF);
    group &= (1U << shift) - 1;
  }
  if (group != 0) return std::nullopt;  // bits behind the last byte that nobody would write
  return result;
}

}  // namespace fdbpack
