// SPDX-License-Identifier: Apache-2.0
//
// The command line of fdbserver 7.1, as far as a supervisor can tell whether it was understood:
// which flags exist, which of them take a value, and what is said about a bad one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::standins {

struct Address {
  std::string text;  // as given, without :tls
  std::string host;
  std::uint16_t port = 0;
};

struct ServerOptions {
  std::vector<std::string> public_addresses;
  std::vector<std::string> listen_addresses;
  std::string cluster_file = "fdb.cluster";
  std::string seed_cluster_file;
  std::string datadir = "fdb";
  std::string logdir = ".";
  int parent_pid = 0;
  bool wants_help = false;
  bool wants_version = false;
};

// What to print on stderr, and the exit code.
struct Refusal {
  std::string message;
  int exit_code = 1;
};

// Reads the arguments and tears them apart in place: `--class=storage` becomes `--class` NUL
// `storage`, which is what fdbserver leaves in /proc/PID/cmdline.
[[nodiscard]] std::optional<Refusal> read_arguments(int argc, char** argv, ServerOptions& options);

// "IP:PORT[:tls]", "[v6]:PORT[:tls]" or "auto:PORT[:tls]" (which is 127.0.0.1 here).
[[nodiscard]] std::optional<Address> parse_address(const std::string& text);

// Addresses of the cluster file `description:id@a,b`, or why fdbserver would leave with code 10.
[[nodiscard]] std::optional<Refusal> read_cluster_file(const ServerOptions& options,
                                                       std::vector<Address>& coordinators);

}  // namespace fdbpack::standins
