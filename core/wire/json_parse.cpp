// SPDX-License-Identifier: Apache-2.0
//
// The only file that sees nlohmann's parser. Its callbacks build a JsonValue and watch for what it
// lets pass.
#include "fdbpack/wire/json_value.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace fdbpack::wire {
namespace {

class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const JsonLimits& limits, Violations& violations)
      : limits_(limits), violations_(violations) {}

  bool null() override { return add(JsonValue()); }
  bool boolean(bool value) override { return add(JsonValue(value)); }
  bool number_integer(number_integer_t value) override { return add(JsonValue(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(JsonValue(static_cast<std::int64_t>(value)));
    }
    return add(JsonValue(static_cast<double>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add(JsonValue(value));
  }
  bool string(string_t& value) override { return add(JsonValue(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override { return open(JsonValue(JsonValue::Object())); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(JsonValue(JsonValue::Array())); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = std::move(name);
    // One per object and name is enough: a third time is the same mistake.
    if (!level.keys.insert(level.key).second && level.repeated.insert(level.key).second) {
      violations_.push_back({member_path(path(), level.key),
                             "this field is given twice in one object; remove one of the two"});
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ...": the bracket is not
    // for people.
    std::string_view what = error.what();
    if (const auto end = what.find("] "); end != std::string_view::npos)
      what.remove_prefix(end + 2);
    violations_.push_back({path(), "this is not valid JSON: " + std::string(what)});
    return false;
  }

  [[nodiscard]] JsonValue take() { return std::move(root_); }

 private:
  struct Level {
    JsonValue container;
    std::string key;  // of the member that is being read
    std::set<std::string> keys;
    std::set<std::string> repeated;
  };

  [[nodiscard]] std::string path() const {
    std::string result = "$";
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      if (i + 1 == levels_.size()) break;  // the innermost level has no member under way
      result = path_below(result, levels_[i]);
    }
    return result;
  }

  static std::string path_below(const std::string& path, const Level& level) {
    if (const auto* items = std::get_if<JsonValue::Array>(&level.container.data)) {
      return item_path(path, items->size());
    }
    return member_path(path, level.key);
  }

  bool open(JsonValue container) {
    levels_.push_back({std::move(container), {}, {}, {}});
    if (levels_.size() <= limits_.depth_max) return true;
    violations_.push_back({path(), "values are nested more than " +
                                       std::to_string(limits_.depth_max) +
                                       " deep here; no field of ours is, take the nesting out"});
    return false;
  }

  bool close() {
    JsonValue finished = std::move(levels_.back().container);
    levels_.pop_back();
    return add(std::move(finished));
  }

  bool add(JsonValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Level& level = levels_.back();
    if (auto* items = std::get_if<JsonValue::Array>(&level.container.data)) {
      items->push_back(std::move(value));
    } else {
      std::get<JsonValue::Object>(level.container.data).emplace_back(level.key, std::move(value));
    }
    return true;
  }

  JsonLimits limits_;
  JsonValue root_;
  std::vector<Level> levels_;
  Violations& violations_;
};

}  // namespace

std::optional<JsonValue> parse_json(std::string_view text, Violations& violations,
                                    const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    violations.push_back({"$", "the document has " + std::to_string(text.size()) +
                                   " bytes, at most " + std::to_string(limits.bytes_max) +
                                   " are read; make it smaller"});
    return std::nullopt;
  }
  Builder builder(limits, violations);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace fdbpack::wire
