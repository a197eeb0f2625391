// SPDX-License-Identifier: Apache-2.0
//
// The sidecar: copies at its start and when it is asked to, and answers questions about what it
// copied.
//
//   HTTP server ── admit, handle ──> Sidecar ── at once ──> /ready, /substitutions, errors
//                                       ├─ reads  (Background) ──> hash, presence
//                                       └─ copies (Background) ──> one copy at a time
//
// Runs on the loop's thread. A disk that hangs holds up the calls that need it and no others.
#pragma once

#include "fdbpack/sidecar/calls.hpp"
#include "fdbpack/sidecar/settings.hpp"
#include "ports/background.hpp"
#include "ports/http_handler.hpp"
#include "ports/log.hpp"
#include "ports/output_tree.hpp"

#include <functional>
#include <memory>
#include <string>

namespace fdbpack::agent {

// What is to be known of the files that are copied. Called from any thread.
struct SidecarInput {
  std::function<Result<std::string>(const std::string& path)> read;
  std::function<bool(const std::string& path)> has_contents;  // a file, and not empty
};

// Brings files to the output directory. Its calls block and may come from any thread.
class SidecarCopier {
 public:
  SidecarCopier(const sidecar::Settings& settings, ports::OutputTree& tree, SidecarInput input)
      : settings_(settings), tree_(tree), input_(std::move(input)) {}

  // Files, binaries, libraries, conf; ends at the first that fails.
  [[nodiscard]] Status copy_all() const;
  // One of the four copying verbs. Fails with precondition when a required file has no contents.
  [[nodiscard]] Status copy(sidecar::Verb verb) const;

 private:
  [[nodiscard]] Status check_required() const;
  [[nodiscard]] Status copy_items(const std::vector<sidecar::CopyItem>& items) const;
  [[nodiscard]] Status copy_conf() const;

  const sidecar::Settings& settings_;
  ports::OutputTree& tree_;
  SidecarInput input_;
};

struct SidecarWorld {
  ports::OutputTree& tree;
  ports::Background& reads;
  ports::Background& copies;
  ports::Log& log;
  std::function<Status()> refresh_certificates;  // with TLS
  std::function<void()> restart;                 // soon, not at once: the answer goes out first
};

class Sidecar final : public ports::HttpHandler {
 public:
  Sidecar(const sidecar::Settings& settings, const SidecarCopier& copier, SidecarWorld world)
      : settings_(settings), copier_(copier), world_(std::move(world)) {}

  [[nodiscard]] ports::Admission admit(const http::Request& head) override;
  void handle(const http::Request& request, ports::Reply reply) override;

 private:
  struct Pending;

  [[nodiscard]] http::Response answer_now(const sidecar::Call& call, const http::Request& request);
  [[nodiscard]] http::Response refresh();
  [[nodiscard]] http::Response failed(const Pending& pending, const Error& error);
  void answer_later(ports::Background& where, std::function<Result<std::string>()> work,
                    std::shared_ptr<Pending> pending);
  void send(Pending& pending, http::Response response);

  const sidecar::Settings& settings_;
  const SidecarCopier& copier_;
  SidecarWorld world_;
};

}  // namespace fdbpack::agent
