// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/router.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/http/target.hpp"

#include <algorithm>

namespace fdbpack::http {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool is_rest(std::string_view segment) {
  return is_parameter(segment) && segment.ends_with("...}");
}

std::string name_of(std::string_view segment) {
  segment.remove_prefix(1);
  return std::string(segment.substr(0, std::min(segment.find("..."), segment.size() - 1)));
}

}  // namespace

const std::string& RouteMatch::parameter(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [name](const auto& one) { return one.first == name; });
  FDBPACK_CHECK(found != parameters.end());
  return found->second;
}

void Router::add(Route route) {
  FDBPACK_CHECK(route.pattern.starts_with('/') && route.method != Method::unknown);
  Entry entry;
  for (const std::string_view segment :
       text::split(std::string_view(route.pattern).substr(1), '/')) {
    FDBPACK_CHECK(!entry.takes_rest);
    entry.segments.emplace_back(segment);
    if (!is_parameter(segment)) ++entry.literals;
    entry.takes_rest = is_rest(segment);
  }
  for (const Entry& other : entries_) {
    FDBPACK_CHECK(other.route.method != route.method || other.route.pattern != route.pattern);
  }
  entry.route = std::move(route);
  const auto is_before = [](const Entry& a, const Entry& b) {
    if (a.takes_rest != b.takes_rest) return b.takes_rest;
    return a.literals > b.literals;
  };
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, is_before),
                  std::move(entry));
}

bool Router::fits(const Entry& entry, std::string_view path,
                  std::vector<std::pair<std::string, std::string>>* parameters) {
  parameters->clear();
  path.remove_prefix(1);
  for (std::size_t i = 0; i < entry.segments.size(); ++i) {
    const std::string& expected = entry.segments[i];
    if (is_rest(expected)) {
      parameters->emplace_back(name_of(expected), path);
      return true;
    }
    const bool is_last = i + 1 == entry.segments.size();
    const auto slash = path.find('/');
    if (is_last != (slash == path.npos)) return false;
    const std::string_view segment = path.substr(0, slash);
    if (is_parameter(expected)) {
      auto decoded = percent_decode(segment);
      if (!decoded || decoded->empty()) return false;
      parameters->emplace_back(name_of(expected), *std::move(decoded));
    } else if (segment != expected) {
      return false;
    }
    if (!is_last) path.remove_prefix(slash + 1);
  }
  return true;
}

RouteMatch Router::match(Method method, std::string_view target) const {
  RouteMatch result;
  const auto cut = split_target(target);
  if (!cut) {
    result.outcome = RouteMatch::Outcome::bad_target;
    return result;
  }
  result.query = cut->query;
  if (method == Method::unknown) {
    result.outcome = RouteMatch::Outcome::unknown_method;
    return result;
  }
  if (cut->path == "*") return result;
  const Method served = method == Method::head ? Method::get : method;
  for (const Entry& entry : entries_) {
    std::vector<std::pair<std::string, std::string>> parameters;
    if (!fits(entry, cut->path, &parameters)) continue;
    if (!result.allow.empty()) result.allow += ", ";
    result.allow += to_string(entry.route.method);
    if (entry.route.method == Method::get) result.allow += ", HEAD";
    result.outcome = RouteMatch::Outcome::wrong_method;
    if (entry.route.method != served) continue;
    result.outcome = RouteMatch::Outcome::found;
    result.route = &entry.route;
    result.parameters = std::move(parameters);
    return result;
  }
  return result;
}

std::vector<Route> Router::routes() const {
  std::vector<Route> result;
  for (const Entry& entry : entries_) {
    result.push_back(entry.route);
  }
  return result;
}

}  // namespace fdbpack::http
