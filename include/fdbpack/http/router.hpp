// SPDX-License-Identifier: Apache-2.0
//
// Which call a request is. A pattern is a path whose segments may be parameters; the last one may
// take the whole rest:
//
//   /v1/status                   that path alone
//   /v1/processes/{id}/restart   {id} is one segment, not empty, percent-decoded
//   /check_hash/{path...}        {path} is everything after the slash, raw, perhaps empty
//
// A literal segment is preferred to a parameter, whatever the order of add(). HEAD is served by
// GET.
#pragma once

#include "fdbpack/http/message.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::http {

// What a client must be to make a call (access.hpp).
enum class Access { probe, read, operate };

struct Route {
  Method method = Method::get;
  std::string pattern;
  Access access = Access::read;
  int call = 0;            // the caller's own number for it
  bool is_upload = false;  // takes a document: Limits::upload_bytes_max
};

struct RouteMatch {
  enum class Outcome { found, bad_target, not_found, wrong_method, unknown_method };

  Outcome outcome = Outcome::not_found;
  const Route* route = nullptr;  // of the router; when found
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string allow;  // "GET, HEAD, POST" for the Allow field; when the path exists
  std::string_view query;

  // The parameter of this name, which the pattern has.
  [[nodiscard]] const std::string& parameter(std::string_view name) const;
};

class Router {
 public:
  // A pattern that is no pattern, or one that was added with the same method before, is a
  // programmer's error.
  void add(Route route);
  [[nodiscard]] RouteMatch match(Method method, std::string_view target) const;
  [[nodiscard]] std::vector<Route> routes() const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;  // "{id}" stays as it is
    std::size_t literals = 0;
    bool takes_rest = false;
  };
  [[nodiscard]] static bool fits(const Entry& entry, std::string_view path,
                                 std::vector<std::pair<std::string, std::string>>* parameters);

  std::vector<Entry> entries_;  // the most literal first
};

}  // namespace fdbpack::http
