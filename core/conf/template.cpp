// SPDX-License-Identifier: Apache-2.0
//
// The only file that sees inja.
#include "fdbpack/conf/template.hpp"

#include <fmt/format.h>
#include <inja/inja.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <set>
#include <stdexcept>

namespace fdbpack::conf {
namespace {

using nlohmann::json;

// inja's comments run to the next `#}`; a line statement would start at every `##`, which is a
// comment in a conf. A control character that no conf holds takes its place.
constexpr const char* kNoLineStatement = "\x01";

// An include that cannot be followed. inja does not say where it stands.
struct UnusableInclude : inja::FileError {
  UnusableInclude(const std::string& reason, std::string name)
      : inja::FileError(reason), included(std::move(name)) {}
  std::string included;
};

// Where `wanted` first stands in a template, as inja counts.
inja::SourceLocation find_in(std::string_view text, std::string_view wanted) {
  const std::size_t at = text.find(wanted);
  if (at == text.npos) return {1, 1};
  const std::string_view before = text.substr(0, at);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  return {lines + 1, at - (before.rfind('\n') + 1) + 1};  // npos + 1 is 0
}

Error template_error(const std::string& file, std::string_view text, const inja::InjaError& error) {
  inja::SourceLocation at = error.location;
  if (const auto* include = dynamic_cast<const UnusableInclude*>(&error)) {
    at = find_in(text, '"' + include->included + '"');
  }
  return {ErrorCode::invalid_argument,
          fmt::format("{}:{}:{}: {}", file, at.line, at.column, error.message)};
}

// An error in an included template: its file is known, which inja would lose.
struct IncludeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Parses a template and, as inja asks for them, the ones it includes.
class TemplateParser {
 public:
  explicit TemplateParser(const TemplateSet& templates) : templates_(templates) {
    environment_.set_search_included_templates_in_files(false);
    environment_.set_line_statement(kNoLineStatement);
    environment_.set_trim_blocks(true);
    environment_.set_lstrip_blocks(true);
    environment_.set_include_callback(
        [this](const std::string&, const std::string& name) { return include(name); });
  }

  std::string render(const std::string& name, const std::string& text, const json& values) {
    open_.insert(name);
    const inja::Template parsed = environment_.parse(text);
    return environment_.render(parsed, values);
  }

 private:
  inja::Template include(const std::string& name) {
    const auto found = templates_.find(name);
    if (found == templates_.end()) {
      throw UnusableInclude("there is no template called '" + name + "'", name);
    }
    // A template that includes itself would end in a stack overflow.
    if (!open_.insert(name).second) throw UnusableInclude("'" + name + "' includes itself", name);
    try {
      inja::Template parsed = environment_.parse(found->second);
      open_.erase(name);
      return parsed;
    } catch (const inja::InjaError& error) {
      throw IncludeError(template_error(name, found->second, error).message);
    }
  }

  const TemplateSet& templates_;
  inja::Environment environment_;
  std::set<std::string> open_;  // being parsed right now
};

// The operator's confs end without a newline.
std::string without_last_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Result<std::string> choose_template(const TemplateSet& templates, model::ProcessClass process_class,
                                    int density) {
  for (const std::string& name :
       {template_name(process_class, density), template_name(process_class, 1),
        std::string("fdbmonitor-conf")}) {
    const std::string file = name + std::string(kTemplateSuffix);
    if (templates.contains(file)) return file;
  }
  return fail(ErrorCode::not_found,
              fmt::format("there is no template for {}", template_name(process_class, density)));
}

Result<std::string> template_values(const GroupConf& group) {
  FDBPACK_TRY(const std::vector<Argument> list, arguments(group));
  json processes = json::array();
  for (int number = 1; number <= group.density; ++number) {
    json process{{"number", number},
                 {"command", "$BINARY_DIR/fdbserver"},
                 {"custom_parameters", json::array()}};
    for (const Argument& argument : list) {
      const std::string value = value_text(argument, number);
      if (argument.is_custom) {
        process["custom_parameters"].push_back({{"name", argument.key}, {"value", value}});
      } else {
        process[argument.key] = value;
      }
    }
    processes.push_back(std::move(process));
  }
  const json values{{"class", to_string(group.process_class)},
                    {"density", group.density},
                    {"name", template_name(group.process_class, group.density)},
                    {"processes", std::move(processes)}};
  return values.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::string> render(const TemplateSet& templates, const std::string& name,
                           const std::string& values_json) {
  const auto text = templates.find(name);
  if (text == templates.end())
    return fail(ErrorCode::not_found, fmt::format("there is no template called {}", name));
  try {
    TemplateParser parser(templates);
    return without_last_newline(parser.render(name, text->second, json::parse(values_json)));
  } catch (const IncludeError& error) {
    return fail(ErrorCode::invalid_argument, error.what());
  } catch (const inja::InjaError& error) {
    return fail(template_error(name, text->second, error));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: the template takes too much memory to render", name));
  } catch (const std::exception& error) {
    // Functions of inja that were given a value of the wrong type; they know no place.
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace fdbpack::conf
