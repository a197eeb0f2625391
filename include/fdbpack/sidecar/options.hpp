// SPDX-License-Identifier: Apache-2.0
//
// The command line of FoundationDB's sidecar.py: `--option value`, `--option=value`, and any
// beginning of an option's name that fits no other. Three options are ours; they are for images
// whose files lie elsewhere, and are never meant by a beginning.
#pragma once

#include "fdbpack/base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fdbpack::sidecar {

struct Options {
  bool is_init_mode = false;
  bool uses_tls = false;
  bool wants_help = false;  // nothing else was looked at
  std::string bind_address;
  std::string tls_certificate_file, tls_ca_file, tls_key_file, tls_verify_peers;
  std::string input_dir = "/var/input-files";
  std::string output_dir = "/var/output-files";
  std::vector<std::string> substitute_variables;
  std::vector<std::string> copy_files, copy_binaries, copy_libraries;
  std::vector<std::string> require_not_empty;
  std::string input_monitor_conf;
  std::optional<std::string> main_container_version;
  std::string public_ip_family;
  std::string main_container_conf_dir = "/var/dynamic-conf";
  // Ours.
  std::string version_file = "/var/fdb/version";
  std::string binary_dir = "/usr/bin";
  std::string library_dir = "/var/fdb/lib";
};

// Arguments without the program's name. Fails with invalid_argument and the words for the user.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& arguments);

[[nodiscard]] std::string help_text();

}  // namespace fdbpack::sidecar
