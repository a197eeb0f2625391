// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/cluster_file.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>

namespace fdbpack::model {
namespace {

bool is_alnum(char c) {
  const char lower = text::lower(c);
  return (lower >= 'a' && lower <= 'z') || text::is_digit(c);
}

bool is_description_char(char c) {
  return is_alnum(c) || c == '_';
}

auto bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument,
              "invalid connection string: " + std::string(text) + ", " + std::string(why));
}

}  // namespace

Result<ConnectionString> parse_connection_string(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view description = text.substr(0, colon);
  if (description.empty() ||
      !std::all_of(description.begin(), description.end(), is_description_char)) {
    return bad(text, "the description can only hold letters, digits and underscores");
  }
  const std::size_t at = text.find('@', colon);
  if (at == std::string_view::npos) return bad(text, "there is no @ behind the ID");
  const std::string_view id = text.substr(colon + 1, at - colon - 1);
  if (id.empty() || !std::all_of(id.begin(), id.end(), is_alnum)) {
    return bad(text, "the ID can only hold letters and digits");
  }
  auto coordinators = parse_addresses(text.substr(at + 1));
  if (!coordinators) return bad(text, coordinators.error().message);
  for (const auto& coordinator : *coordinators) {
    if (coordinator.port == 0) {
      return bad(text, "the coordinator " + to_string(coordinator) + " needs a port");
    }
  }
  return ConnectionString{.description = std::string(description),
                          .id = std::string(id),
                          .coordinators = *std::move(coordinators)};
}

std::string to_string(const ConnectionString& connection) {
  return connection.description + ":" + connection.id + "@" + to_string(connection.coordinators);
}

Result<ConnectionString> parse_cluster_file(std::string_view text) {
  std::string joined;
  for (const auto line : text::split(text, '\n')) {
    const std::string_view code = line.substr(0, line.find('#'));
    std::copy_if(code.begin(), code.end(), std::back_inserter(joined),
                 [](char c) { return !text::is_blank(c); });
  }
  if (joined.empty()) {
    return fail(ErrorCode::invalid_argument,
                "the cluster file is empty; it needs one line description:id@address,address");
  }
  FDBPACK_TRY(auto connection, parse_connection_string(joined));
  std::set<Address> seen;
  for (const auto& coordinator : connection.coordinators) {
    if (!seen.insert(coordinator).second) {
      return bad(joined, "the coordinator " + to_string(coordinator) + " is there twice");
    }
  }
  return connection;
}

std::string print_cluster_file(const ConnectionString& connection) {
  return to_string(connection) + "\n";
}

std::string sanitize_description(std::string_view name) {
  std::string result(name);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return !is_description_char(c); }, '_');
  return result;
}

}  // namespace fdbpack::model
