// SPDX-License-Identifier: Apache-2.0
//
// Runs a program to its end and gives what it printed. For tests of command lines; bounded by
// ctest's timeout.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace fdbpack::support {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string error;
};

// A file without a name that holds text; rewound for reading.
inline std::FILE* temporary_file(const std::string& text = "") {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("there is no room for a temporary file");
  std::fwrite(text.data(), 1, text.size(), file);
  std::rewind(file);
  return file;
}

inline std::string rest_of(std::FILE* file) {
  std::string text;
  std::rewind(file);
  std::array<char, 4096> buffer;
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    text.append(buffer.data(), count);
  }
  std::fclose(file);
  return text;
}

inline ProgramResult run_program(std::vector<std::string> argv, const std::string& input = "") {
  std::FILE* in = temporary_file(input);
  std::FILE* out = temporary_file();
  std::FILE* error = temporary_file();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(error), STDERR_FILENO);
  std::vector<char*> words;
  for (std::string& word : argv)
    words.push_back(word.data());
  words.push_back(nullptr);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot run " + argv[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::fclose(in);
  ProgramResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = rest_of(out);
  result.error = rest_of(error);
  return result;
}

}  // namespace fdbpack::support
