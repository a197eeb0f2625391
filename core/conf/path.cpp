// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/path.hpp"

#include "fdbpack/base/text.hpp"

#include <vector>

namespace fdbpack::conf {

std::string clean_path(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::vector<std::string> parts;
  for (const std::string_view part : text::split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty() && parts.back() != "..") {
        parts.pop_back();
        continue;
      }
      if (is_absolute) continue;  // nothing is above the root
    }
    parts.emplace_back(part);
  }
  const std::string cleaned = (is_absolute ? "/" : "") + text::join(parts, "/");
  return cleaned.empty() ? "." : cleaned;
}

std::string pop_path(std::string_view path) {
  std::string_view rest = path;
  const auto drop_while = [&rest](bool is_separator) {
    while (!rest.empty() && (rest.back() == '/') == is_separator)
      rest.remove_suffix(1);
  };
  drop_while(true);
  drop_while(false);
  const bool has_separator = !rest.empty();
  drop_while(true);
  if (!has_separator) return path.starts_with('/') ? "/" : "";
  return std::string(rest) + "/";
}

std::string join_path(std::string_view directory, std::string_view file) {
  while (file.starts_with('/'))
    file.remove_prefix(1);
  if (directory.empty()) return std::string(file);
  std::string joined(directory);
  if (joined.back() != '/') joined += '/';
  return joined.append(file);
}

}  // namespace fdbpack::conf
