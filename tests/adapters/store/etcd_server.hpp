// SPDX-License-Identifier: Apache-2.0
//
// A real etcd of one member, on unix sockets in a folder of its own: no port can be taken.
#pragma once

#include "tests/support/temp_dir.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace fdbpack::test {

class EtcdServer {
 public:
  // Why there can be no etcd here; nothing: there can.
  [[nodiscard]] static std::optional<std::string> reason_to_skip();

  // Returns when it is ready. `more` are further options.
  explicit EtcdServer(std::vector<std::string> more = {});
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  [[nodiscard]] std::string socket() const { return folder_.file("client:1"); }
  [[nodiscard]] std::string url() const { return "unix://" + socket(); }
  [[nodiscard]] const support::TempDir& folder() const { return folder_; }

  void stop() const;  // until resume(); it answers nothing any more when this returns
  void resume() const;
  void kill();   // -9, and waits
  void start();  // with the same data
  // The answer to a question, as curl would put it.
  std::string ask(const std::string& path, const std::string& body) const;

 private:
  support::TempDir folder_;
  std::vector<std::string> more_;
  pid_t pid_ = -1;
};

}  // namespace fdbpack::test
