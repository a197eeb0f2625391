// SPDX-License-Identifier: Apache-2.0
//
// libclock-jump.so, for LD_PRELOAD: wall-clock time is what the file named by CLOCK_JUMP_FILE says
// in seconds away from the truth, for the process it is loaded into. Monotonic time stays true.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

using RealClock = int (*)(clockid_t, timespec*);

long jump_seconds() {
  const char* path = getenv("CLOCK_JUMP_FILE");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[32] = {};
  const long size = read(fd, text, sizeof text - 1);
  close(fd);
  return size > 0 ? strtol(text, nullptr, 10) : 0;
}

int real_clock(clockid_t id, timespec* time) {
  static RealClock real = nullptr;
  if (real == nullptr) {
    void* found = dlsym(RTLD_NEXT, "clock_gettime");
    real = reinterpret_cast<RealClock>(found);
  }
  return real(id, time);
}

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
  const int result = real_clock(id, time);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) time->tv_sec += jump_seconds();
  return result;
}

extern "C" time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}
