// SPDX-License-Identifier: Apache-2.0
//
// supervise-child: the simplest child. Its first instruction reads the clock; then it writes
// "<CLOCK_MONOTONIC ns> <pid>" to the FIFO named by STAMP, tells s6 that it is ready if NOTIFY_FD
// says how, and waits for a signal. Arguments are ignored.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const char* path = getenv("STAMP");
  const int fd = path == nullptr ? -1 : open(path, O_WRONLY | O_CLOEXEC);
  char line[64];
  const long long ns = static_cast<long long>(now.tv_sec) * 1000000000LL + now.tv_nsec;
  const int size = snprintf(line, sizeof line, "%lld %d\n", ns, getpid());
  if (write(fd, line, static_cast<unsigned long>(size)) != size) return 1;
  close(fd);
  const char* notify = getenv("NOTIFY_FD");
  if (notify != nullptr && write(atoi(notify), "\n", 1) != 1) return 1;
  while (true)
    pause();
}
