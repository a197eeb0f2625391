// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/group_render.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/listener.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/model/ip.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::conf {
namespace {

Error refusal(std::string_view source, Position at, std::string_view why) {
  const std::string place =
      at.line == 0 ? "" : fmt::format(" on line {} of the rendered conf", at.line);
  return {ErrorCode::invalid_argument, fmt::format("{} is refused: {}{}", source, why, place)};
}

bool is_name_character(char c) {
  return c == '_' || text::is_digit(c) || (text::lower(c) >= 'a' && text::lower(c) <= 'z');
}

// Addresses may be lists and may be IPv6; every other value is used as it is.
Result<std::string> value_of(const std::string& name, const std::string& value,
                             const FillOptions& options) {
  if (name != "FDB_PUBLIC_IP" && name != "FDB_POD_IP") return value;
  if (options.ip_family) {
    auto picked = pick_ip(value, *options.ip_family);
    if (!picked)
      return fail(with_context(std::move(picked).error(), fmt::format("{}={}", name, value)));
    return picked;
  }
  if (value.find(',') != value.npos) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} lists several addresses ({}); say which IP family to use", name, value));
  }
  return value;
}

std::string bracketed(std::string value, std::string_view before) {
  const auto ip = model::parse_ip(value);
  if (!ip || ip->family != model::IpFamily::v6 || before.ends_with('[')) return value;
  return "[" + value + "]";
}

// The longest name of the environment that `text` begins with, so that $FDB_POD_IP does not eat
// into $FDB_POD_IPS.
Environment::const_iterator longest_name(std::string_view text, const Environment& environment) {
  auto best = environment.end();
  for (auto it = environment.begin(); it != environment.end(); ++it) {
    if (!it->first.empty() && text.starts_with(it->first) &&
        (best == environment.end() || it->first.size() > best->first.size())) {
      best = it;
    }
  }
  return best;
}

bool belongs_to_fdbmonitor(std::string_view text) {
  return text.starts_with("ID") || text.starts_with("PID");
}

}  // namespace

Result<std::string> render_builtin(const GroupConf& group) {
  FDBPACK_TRY(const std::string values, template_values(group));
  if (!group.has_connection_string) return std::string();
  FDBPACK_TRY(const std::string file,
              choose_template(builtin_templates(), group.process_class, group.density));
  return render(builtin_templates(), file, values);
}

Result<std::string> render_by(const TemplateSet& templates, const std::string& folder,
                              const GroupConf& group, const RenderTemplate& render) {
  FDBPACK_TRY(const std::string values, template_values(group));
  if (!group.has_connection_string) return std::string();
  FDBPACK_TRY(const std::string file,
              choose_template(templates, group.process_class, group.density));
  auto text = render(templates, file, values);
  // The renderer's errors begin with the name of the file.
  if (!text) {
    return fail(text.error().code, fmt::format("{}/{}", folder, text.error().message));
  }
  FDBPACK_TRY_VOID(check_rendered(fmt::format("{}/{}", folder, file), *text));
  return text;
}

Status check_rendered(std::string_view source, std::string_view text) {
  const ParsedDocument parsed = parse(text);
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    if (diagnostic.severity == Severity::error)
      return fail(refusal(source, diagnostic.at, diagnostic.message));
  }
  const MonitorConf conf = resolve(parsed.document);
  if (!conf.refusals.empty()) {
    return fail(refusal(source, conf.refusals.front().at, conf.refusals.front().message));
  }
  if (conf.processes.empty())
    return fail(refusal(source, {}, "it has no process section such as [fdbserver.1]"));
  const std::vector<Conflict> conflicts = find_conflicts(conf.processes);
  if (!conflicts.empty())
    return fail(refusal(source, conflicts.front().at, conflicts.front().message));
  return {};
}

Result<std::string> fill_variables(std::string_view conf, const Environment& environment,
                                   const FillOptions& options) {
  std::string filled;
  std::size_t done = 0;
  for (std::size_t at = conf.find('$'); at != conf.npos; at = conf.find('$', done)) {
    filled += conf.substr(done, at - done);
    const std::string_view rest = conf.substr(at + 1);
    const auto variable = longest_name(rest, environment);
    if (variable != environment.end()) {
      FDBPACK_TRY(std::string value, value_of(variable->first, variable->second, options));
      filled += bracketed(std::move(value), filled);
      done = at + 1 + variable->first.size();
      continue;
    }
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_name_character);
    const std::string_view name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    if (options.is_complete && !name.empty() && !belongs_to_fdbmonitor(name)) {
      return fail(ErrorCode::not_found,
                  fmt::format("variable {} has no value; add it to the env file", name));
    }
    filled += '$';
    done = at + 1;
  }
  return filled += conf.substr(done);
}

}  // namespace fdbpack::conf
