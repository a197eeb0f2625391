// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/sidecar/fixture.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

extern char** environ;

namespace fdbpack::sidecar {
namespace {

constexpr int kDeadlineMs = 30'000;  // a last resort, not a measurement

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string Answered::field(const std::string& name) const {
  const auto at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

Connection::Connection(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const ::timeval deadline{kDeadlineMs / 1000, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
}

Connection::~Connection() {
  SSL_free(tls_);
  SSL_CTX_free(context_);
  ::close(fd_);
}

bool Connection::secure(const support::Certificate* client) {
  context_ = SSL_CTX_new(TLS_client_method());
  if (client != nullptr) {
    SSL_CTX_use_certificate(context_, client->certificate.get());
    SSL_CTX_use_PrivateKey(context_, client->key.get());
  }
  tls_ = SSL_new(context_);
  SSL_set_fd(tls_, fd_);
  return SSL_connect(tls_) == 1;
}

std::string Connection::server_name() const {
  char name[256] = "";
  const X509* certificate = SSL_get0_peer_certificate(tls_);
  if (certificate != nullptr) {
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
  }
  return name;
}

bool Connection::send(const std::string& bytes) {
  if (tls_ != nullptr) return SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

void Connection::finish_sending() const {
  ::shutdown(fd_, SHUT_WR);
}

bool Connection::has_input() const {
  ::pollfd poll{fd_, POLLIN, 0};
  return ::poll(&poll, 1, 0) == 1;
}

std::string Connection::read_to_end() {
  std::string text;
  char buffer[16384];
  for (;;) {
    const auto count = tls_ != nullptr ? static_cast<ssize_t>(SSL_read(tls_, buffer, sizeof buffer))
                                       : ::recv(fd_, buffer, sizeof buffer, 0);
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

Answered Connection::receive() {
  Answered result;
  const std::string text = read_to_end();
  const auto end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with("HTTP/1.1 ")) return result;
  result.head = text.substr(0, end + 2);
  result.status = std::stoi(result.head.substr(9, 3));
  result.reason = result.head.substr(13, result.head.find("\r\n") - 13);
  const std::string length = result.field("Content-Length");
  result.rest = text.substr(end + 4);
  result.body = result.rest.substr(0, length.empty() ? 0 : std::stoul(length));
  result.rest.erase(0, result.body.size());
  return result;
}

SidecarProgram::SidecarProgram() {
  std::filesystem::create_directory(input_dir());
  std::filesystem::create_directory(output_dir());
  folder_.write("version", version_);
}

SidecarProgram::~SidecarProgram() {
  if (pid_ > 0) kill_program(SIGKILL);
  if (log_fd_ >= 0) ::close(log_fd_);
  if (HasFailure()) std::fprintf(stderr, "the sidecar's log:\n%s\n", log_.c_str());
}

std::vector<std::string> SidecarProgram::arguments(const std::vector<std::string>& more) const {
  std::vector<std::string> all = wrapper_;
  all.push_back(program_);
  all.insert(all.end(), mode_.begin(), mode_.end());
  for (const auto& [option, value] :
       std::map<std::string, std::string>{{"--input-dir", input_dir()},
                                          {"--output-dir", output_dir()},
                                          {"--version-file", folder_.file("version")},
                                          {"--binary-dir", folder_.file("usr/bin")},
                                          {"--library-dir", folder_.file("lib")}}) {
    all.push_back(option);
    all.push_back(value);
  }
  if (!bind_address_.empty()) all.push_back("--bind-address=" + bind_address_);
  if (is_tls_) all.push_back("--tls");
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void SidecarProgram::spawn(const std::vector<std::string>& more) {
  folder_.write("version", version_ + "\n");
  std::vector<std::string> words = arguments(more);
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("FDB_") && !text.starts_with("HOSTNAME=")) variables.push_back(text);
  }
  for (const auto& [name, value] : environment_)
    variables.push_back(name + "=" + value);
  const auto pointers = [](std::vector<std::string>& from) {
    std::vector<char*> result;
    for (std::string& text : from)
      result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, folder_.file("stdout").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
  auto argv = pointers(words);
  auto envp = pointers(variables);
  const int failed = ::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (log_fd_ >= 0) ::close(log_fd_);
  log_fd_ = pipe[0];
  log_.clear();
  ASSERT_EQ(failed, 0) << argv[0];
}

// False at the end, or when nothing came in time.
bool SidecarProgram::read_log() {
  ::pollfd poll{log_fd_, POLLIN, 0};
  if (::poll(&poll, 1, kDeadlineMs) != 1) return false;
  char buffer[4096];
  const auto count = ::read(log_fd_, buffer, sizeof buffer);
  if (count <= 0) return false;
  log_.append(buffer, static_cast<std::size_t>(count));
  return true;
}

bool SidecarProgram::log_says(const std::string& text) {
  while (log_.find(text) == std::string::npos) {
    if (!read_log()) return false;
  }
  return true;
}

bool SidecarProgram::start(const std::vector<std::string>& more) {
  spawn(more);
  std::size_t at = 0;
  const std::string mark = "Listening on ";
  while ((at = log_.find(mark)) == std::string::npos || log_.find('\n', at) == std::string::npos) {
    if (!read_log()) return false;
  }
  const std::string line = log_.substr(at, log_.find('\n', at) - at);
  port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
  return true;
}

int SidecarProgram::run(const std::vector<std::string>& more) {
  spawn(more);
  return wait_for_end();
}

int SidecarProgram::wait_for_end() {
  while (read_log()) {
  }
  int status = 0;
  EXPECT_EQ(::waitpid(std::exchange(pid_, -1), &status, 0) > 0, true);
  out_ = text_of(folder_.file("stdout"));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void SidecarProgram::kill_program(int signal) {
  ::kill(pid_, signal);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

Answered SidecarProgram::ask(const std::string& method, const std::string& target) const {
  Connection connection(port_);
  if (is_tls_ && !connection.secure(client_ ? &*client_ : nullptr)) return {};
  const std::string body = method == "POST" ? "Content-Type: application/json\r\n"
                                              "Content-Length: 0\r\n"
                                            : "";
  connection.send(method + " " + target + " HTTP/1.1\r\nHost: pod\r\n" + body + "\r\n");
  return connection.receive();
}

void SidecarProgram::use_tls(const std::string& rules) {
  is_tls_ = true;
  authority_ = support::make_certificate({{{"CN", "TestCA"}, {"O", "Org"}}, "", nullptr, true});
  install_certificate("server-1");
  environment_["FDB_TLS_CA_FILE"] = folder_.write("tls/ca.pem", authority_->certificate_pem);
  if (!rules.empty()) environment_["FDB_TLS_VERIFY_PEERS"] = rules;
}

void SidecarProgram::install_certificate(const std::string& name) {
  const auto made = issue(name);
  environment_["FDB_TLS_CERTIFICATE_FILE"] = folder_.write("tls/cert.pem", made.certificate_pem);
  environment_["FDB_TLS_KEY_FILE"] = folder_.write("tls/key.pem", made.key_pem);
}

support::Certificate SidecarProgram::issue(const std::string& name,
                                           const std::string& alt_names) const {
  return support::make_certificate({{{"CN", name}, {"O", "FDB"}}, alt_names, &*authority_});
}

void SidecarProgram::write_input(const std::string& name, const std::string& text) const {
  folder_.write("in/" + name, text);
}

std::string SidecarProgram::output(const std::string& name) const {
  return text_of(output_dir() + "/" + name);
}

std::vector<std::string> SidecarProgram::temporaries(const std::string& directory) const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".fdbpack-tmp.")) names.push_back(name);
  }
  return names;
}

}  // namespace fdbpack::sidecar
