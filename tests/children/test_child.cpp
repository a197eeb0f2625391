// SPDX-License-Identifier: Apache-2.0
//
// test-child: the process that tests put under a supervisor. It first appends one line
//
//     <CLOCK_MONOTONIC ns> <pid> <id> start|double
//
// to the file --stamp=FILE. "double" says that an older copy with the same --id still runs: each
// copy holds a lock on FILE.<id>. Then it takes the steps of --mode=STEP[,STEP...] in order (or
// of its own name: a link `test-child-stubborn` takes the step `stubborn`) and waits for a signal.
//
//   normal    nothing: SIGTERM ends it, as it ends fdbserver
//   stubborn  ignores SIGTERM, SIGINT and SIGHUP
//   graceful  on SIGTERM exits with --code after --term_ms
//   exit      exits with --code after --after_ms; with --once=FILE only if FILE is not there yet
//   crash     dies by --signal (11) after --after_ms
//   fork      leaves a grandchild in its own process group; double-fork: in a session of its own
//   flood     writes --bytes to descriptor --to as --flood=lines|line|nul|utf8|close
//   say       writes --text and a newline to descriptor --to
//   joined    says what fdbserver says when it has joined
//   fds       writes its open descriptors to --fds
//   report    writes what it inherited to --report, as JSON
//   memory    grows by --rss_mib
//   stop      stops itself (SIGSTOP)
//   argv      tears its own arguments apart, as fdbserver does
//   listen    listens on 127.0.0.1:--port, and fails as fdbserver does if that is taken
//   lock      locks --datadir, and fails as fdbserver does if that is locked
#include "tests/children/child_options.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace {

using fdbpack::test_child::argument_count;
using fdbpack::test_child::arguments;
using fdbpack::test_child::flag;
using fdbpack::test_child::flag_number;
using fdbpack::test_child::write_all;

void pause_ms(long ms) {
  timespec left{ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

// The lock is kept by leaking the descriptor: it lives exactly as long as the process.
bool is_only_copy(const char* stamp, const char* id) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", stamp, id);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void stamp(const timespec& started, const char* id, const char* word) {
  const char* path = flag("stamp", getenv("FDBPACK_TEST_STAMP"));
  if (path == nullptr) return;
  char line[512];
  const long long ns = static_cast<long long>(started.tv_sec) * 1000000000LL + started.tv_nsec;
  const int size = snprintf(line, sizeof line, "%lld %d %s %s\n", ns, getpid(), id, word);
  const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return;
  write_all(fd, line, static_cast<unsigned long>(size));
  close(fd);
}

void stamp_start(const timespec& started) {
  const char* id = flag("id", "-");
  const char* path = flag("stamp", getenv("FDBPACK_TEST_STAMP"));
  const bool alone = path == nullptr || is_only_copy(path, id);
  stamp(started, id, alone ? "start" : "double");
}

void stamp_now(const char* suffix) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  char id[256];
  snprintf(id, sizeof id, "%s.%s", flag("id", "-"), suffix);
  stamp(now, id, "start");
}

[[noreturn]] void wait_for_signal() {
  while (true)
    pause();
}

void leave_gracefully(int) {
  pause_ms(flag_number("term_ms", 0));
  _exit(static_cast<int>(flag_number("code", 0)));
}

void step_exit() {
  const char* once = flag("once", nullptr);
  if (once != nullptr) {
    const int fd = open(once, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return;
    close(fd);
  }
  pause_ms(flag_number("after_ms", 0));
  _exit(static_cast<int>(flag_number("code", 0)));
}

void step_crash() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  pause_ms(flag_number("after_ms", 0));
  const int number = static_cast<int>(flag_number("signal", SIGSEGV));
  signal(number, SIG_DFL);
  kill(getpid(), number);
  wait_for_signal();
}

void step_fork(bool detached) {
  const pid_t first = fork();
  if (first != 0) return;
  if (detached) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  stamp_now(detached ? "detached" : "grandchild");
  wait_for_signal();
}

void flood_repeating(int fd, const char* piece, unsigned long piece_size, long bytes) {
  char block[65536];
  unsigned long filled = 0;
  while (filled + piece_size <= sizeof block) {
    memcpy(block + filled, piece, piece_size);
    filled += piece_size;
  }
  for (long left = bytes; left > 0;) {
    const unsigned long size =
        left < static_cast<long>(filled) ? static_cast<unsigned long>(left) : filled;
    if (!write_all(fd, block, size)) return;
    left -= static_cast<long>(size);
  }
}

void step_flood() {
  const int fd = static_cast<int>(flag_number("to", 1));
  const long bytes = flag_number("bytes", 1 << 20);
  const char* kind = flag("flood", "lines");
  if (strcmp(kind, "lines") == 0) {
    const char line[] = "the quick brown fox jumps over the lazy dog\n";
    flood_repeating(fd, line, sizeof line - 1, bytes);
  } else if (strcmp(kind, "line") == 0) {
    flood_repeating(fd, "x", 1, bytes);
  } else if (strcmp(kind, "nul") == 0) {
    flood_repeating(fd, "a\0b\n", 4, bytes);
  } else if (strcmp(kind, "utf8") == 0) {
    flood_repeating(fd, "\xff\xfe\xc3(\xe2\x82\x1b[31m\n", 12, bytes);
  } else if (strcmp(kind, "close") == 0) {
    close(fd);
    return;
  }
  write_all(fd, "\n", 1);
}

void step_say(const char* text) {
  const int fd = static_cast<int>(flag_number("to", 1));
  write_all(fd, text, strlen(text));
  write_all(fd, "\n", 1);
}

void step_memory() {
  const unsigned long bytes = static_cast<unsigned long>(flag_number("rss_mib", 64)) << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) memset(memory, 1, bytes);
}

void step_argv() {
  for (int i = 1; i < argument_count(); ++i) {
    char* equals = strchr(arguments()[i], '=');
    if (equals != nullptr) *equals = '\0';
  }
}

void step_listen() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(flag_number("port", 0)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const void* untyped = &address;
  if (bind(fd, static_cast<const sockaddr*>(untyped), sizeof address) == 0 && listen(fd, 8) == 0)
    return;
  dprintf(2,
          "Error initializing networking with public address 127.0.0.1:%ld and listen address "
          "127.0.0.1:%ld (Local address in use)\n",
          flag_number("port", 0), flag_number("port", 0));
  _exit(1);
}

void step_lock() {
  char path[4096];
  snprintf(path, sizeof path, "%s/processId", flag("datadir", "."));
  mkdir(flag("datadir", "."), 0777);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return;
  dprintf(2, "Fatal Error: Disk i/o operation failed\n");
  _exit(1);
}

// Before the stamp: whoever reads it may send a signal at once.
void set_signals(const char* modes) {
  if (strstr(modes, "stubborn") != nullptr) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
  }
  if (strstr(modes, "graceful") != nullptr) signal(SIGTERM, leave_gracefully);
}

void take(const char* step) {
  if (strcmp(step, "exit") == 0) step_exit();
  if (strcmp(step, "crash") == 0) step_crash();
  if (strcmp(step, "fork") == 0) step_fork(false);
  if (strcmp(step, "double-fork") == 0) step_fork(true);
  if (strcmp(step, "flood") == 0) step_flood();
  if (strcmp(step, "say") == 0) step_say(flag("text", "hello"));
  if (strcmp(step, "joined") == 0) step_say("FDBD joined cluster.");
  if (strcmp(step, "fds") == 0) fdbpack::test_child::write_descriptors(flag("fds", "/dev/null"));
  if (strcmp(step, "report") == 0) fdbpack::test_child::write_report(flag("report", "/dev/null"));
  if (strcmp(step, "memory") == 0) step_memory();
  if (strcmp(step, "stop") == 0) raise(SIGSTOP);
  if (strcmp(step, "argv") == 0) step_argv();
  if (strcmp(step, "listen") == 0) step_listen();
  if (strcmp(step, "lock") == 0) step_lock();
}

const char* mode_of_name(const char* name) {
  const char* slash = strrchr(name, '/');
  const char* base = slash == nullptr ? name : slash + 1;
  const char prefix[] = "test-child-";
  return strncmp(base, prefix, sizeof prefix - 1) == 0 ? base + sizeof prefix - 1 : "normal";
}

}  // namespace

int main(int argc, char** argv) {
  timespec started{};
  clock_gettime(CLOCK_MONOTONIC, &started);
  fdbpack::test_child::set_arguments(argc, argv);
  char modes[256];
  snprintf(modes, sizeof modes, "%s", flag("mode", mode_of_name(argv[0])));
  set_signals(modes);
  stamp_start(started);
  char* rest = nullptr;
  for (char* step = strtok_r(modes, ",", &rest); step != nullptr;
       step = strtok_r(nullptr, ",", &rest)) {
    take(step);
  }
  wait_for_signal();
}
