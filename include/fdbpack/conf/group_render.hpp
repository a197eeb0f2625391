// SPDX-License-Identifier: Apache-2.0
//
// From a rendered template to a conf that may be used on one host.
//
//   GroupConf ──template──► conf with $FDB_… ──fill_variables──► conf of one host ──resolve──►
//   command lines
//                                   └──────────check_rendered──────────┘
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/environment.hpp"
#include "fdbpack/conf/group_conf.hpp"
#include "fdbpack/conf/template.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::conf {

// The conf of a group from the templates compiled in. Empty without a connection string.
[[nodiscard]] Result<std::string> render_builtin(const GroupConf& group);

// As conf::render(), where somebody else's templates may be rendered.
using RenderTemplate = std::function<Result<std::string>(
    const TemplateSet& templates, const std::string& file, const std::string& values)>;

// The same from the templates of a folder, and refused by check_rendered(). `folder` is what the
// reader knows them by.
[[nodiscard]] Result<std::string> render_by(const TemplateSet& templates, const std::string& folder,
                                            const GroupConf& group, const RenderTemplate& render);

// Refuses a conf that does not parse, holds no process, holds a process that cannot be started, or
// has two processes on one port or one data directory. `source` is what the reader knows it by: a
// template's file name.
[[nodiscard]] Status check_rendered(std::string_view source, std::string_view conf);

struct FillOptions {
  // Takes the address of this family where FDB_PUBLIC_IP or FDB_POD_IP lists several.
  std::optional<int> ip_family;
  // A variable without a value is an error; otherwise it is left as it is.
  bool is_complete = true;
};

// Puts the values of a host in place of `$NAME`. An IPv6 address is put into brackets unless it has
// them. `$ID` and
// `$PID` are fdbmonitor's and are left alone. No value is looked into again.
[[nodiscard]] Result<std::string> fill_variables(std::string_view conf,
                                                 const Environment& environment,
                                                 const FillOptions& options = {});

}  // namespace fdbpack::conf
