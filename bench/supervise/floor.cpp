// SPDX-License-Identifier: Apache-2.0
//
// supervise-floor N CHILD: keeps N copies of CHILD running with pidfd, epoll and posix_spawn, and
// does nothing else: no conf, no log, no state, no delay. What a real supervisor needs on top of
// this is its own cost, so bench/supervise/run gives every figure as a multiple of this program's.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

int epoll = -1;
char* command = nullptr;

void start() {
  char* const argv[] = {command, nullptr};
  pid_t pid = -1;
  if (posix_spawn(&pid, command, nullptr, nullptr, argv, environ) != 0) {
    perror("supervise-floor: posix_spawn");
    exit(1);
  }
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = pidfd;
  if (pidfd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, pidfd, &event) != 0) {
    perror("supervise-floor: pidfd");
    exit(1);
  }
}

void reap(int pidfd) {
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED);
  close(pidfd);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: supervise-floor N CHILD\n");
    return 64;
  }
  command = argv[2];
  epoll = epoll_create1(EPOLL_CLOEXEC);
  for (int i = atoi(argv[1]); i > 0; --i)
    start();
  while (true) {
    epoll_event events[64];
    const int count = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      reap(events[i].data.fd);
      start();
    }
  }
}
