// SPDX-License-Identifier: Apache-2.0
//
// The real sidecar as a process, and a client that sends raw bytes over TCP or TLS.
#pragma once

#include "tests/adapters/http/certificates.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::sidecar {

struct Answered {
  int status = 0;  // 0: the connection ended first
  std::string reason, head, body;
  std::string rest;  // what came behind the answer

  [[nodiscard]] std::string field(const std::string& name) const;
};

// A connection to the loopback. Every wait has a deadline.
class Connection {
 public:
  explicit Connection(std::uint16_t port);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // After this, bytes go over TLS. False when the handshake failed.
  [[nodiscard]] bool secure(const support::Certificate* client);
  // The common name of the server's certificate.
  [[nodiscard]] std::string server_name() const;
  bool send(const std::string& bytes);
  // Sends no more, but still reads.
  void finish_sending() const;
  // One answer, and whatever follows until the server closes.
  [[nodiscard]] Answered receive();
  [[nodiscard]] bool has_input() const;

 private:
  [[nodiscard]] std::string read_to_end();

  int fd_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* tls_ = nullptr;
};

class SidecarProgram : public testing::Test {
 protected:
  SidecarProgram();
  ~SidecarProgram() override;

  // Runs until it listens or ends; false when it ended.
  bool start(const std::vector<std::string>& more = {});
  // Runs to its end and gives its exit code; for init mode and errors.
  int run(const std::vector<std::string>& more);
  int wait_for_end();
  void kill_program(int signal);
  // Waits until the log says so.
  bool log_says(const std::string& text);

  [[nodiscard]] Answered ask(const std::string& method, const std::string& target) const;
  [[nodiscard]] Answered get(const std::string& target) const { return ask("GET", target); }
  [[nodiscard]] Answered post(const std::string& target) const { return ask("POST", target); }

  // Gives the sidecar a certificate and asks for clients of the same authority.
  void use_tls(const std::string& rules = "");
  void install_certificate(const std::string& name);
  [[nodiscard]] support::Certificate issue(const std::string& name,
                                           const std::string& alt_names = "") const;

  void write_input(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string output(const std::string& name) const;  // "" when it is not there
  [[nodiscard]] std::string output_dir() const { return folder_.file("out"); }
  [[nodiscard]] std::string input_dir() const { return folder_.file("in"); }
  [[nodiscard]] std::vector<std::string> temporaries(const std::string& directory) const;

  support::TempDir folder_;
  std::map<std::string, std::string> environment_{{"FDB_POD_IP", "127.0.0.1"}};
  std::string version_ = "7.1.43";
  std::string program_ = test::program_file("fdbpack-agent");
  std::vector<std::string> mode_{"sidecar"};
  std::vector<std::string> wrapper_;  // in front of the program
  std::string bind_address_ = "127.0.0.1:0";
  std::string log_;  // as far as it was read
  std::string out_;
  std::uint16_t port_ = 0;
  ::pid_t pid_ = -1;
  std::optional<support::Certificate> authority_, client_;
  bool is_tls_ = false;

 private:
  void spawn(const std::vector<std::string>& more);
  bool read_log();
  [[nodiscard]] std::vector<std::string> arguments(const std::vector<std::string>& more) const;

  int log_fd_ = -1;
};

}  // namespace fdbpack::sidecar
