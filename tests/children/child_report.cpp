// SPDX-License-Identifier: Apache-2.0
#include "tests/children/child_options.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace fdbpack::test_child {
namespace {

FILE* open_aside(const char* path, char* aside, unsigned long size) {
  snprintf(aside, size, "%s.%d", path, getpid());
  return fopen(aside, "we");
}

void put_text(FILE* out, const char* text) {
  fputc('"', out);
  for (; *text != '\0'; ++text) {
    const unsigned char c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') {
      fprintf(out, "\\%c", c);
    } else if (c < 0x20 || c > 0x7e) {
      fprintf(out, "\\u%04x", c);
    } else {
      fputc(c, out);
    }
  }
  fputc('"', out);
}

void put_list(FILE* out, const char* name, char** items) {
  fprintf(out, ",\n\"%s\": [", name);
  for (int i = 0; items[i] != nullptr; ++i) {
    if (i > 0) fputs(", ", out);
    put_text(out, items[i]);
  }
  fputc(']', out);
}

void put_field_of_file(FILE* out, const char* name, const char* path, const char* field) {
  char line[256];
  FILE* in = fopen(path, "re");
  while (in != nullptr && fgets(line, sizeof line, in) != nullptr) {
    if (strncmp(line, field, strlen(field)) != 0) continue;
    const char* value = line + strlen(field);
    value += strspn(value, " \t");
    line[strcspn(line, "\n")] = '\0';
    fprintf(out, ",\n\"%s\": ", name);
    put_text(out, value);
    break;
  }
  if (in != nullptr) fclose(in);
}

void put_limit(FILE* out, const char* name, __rlimit_resource resource) {
  rlimit limit{};
  getrlimit(resource, &limit);
  fprintf(out, ",\n\"%s\": %lld", name,
          limit.rlim_cur == RLIM_INFINITY ? -1LL : static_cast<long long>(limit.rlim_cur));
}

void put_groups(FILE* out) {
  gid_t groups[256];
  const int count = getgroups(256, groups);
  fputs(",\n\"groups\": [", out);
  for (int i = 0; i < count; ++i)
    fprintf(out, "%s%u", i > 0 ? ", " : "", groups[i]);
  fputc(']', out);
}

// The descriptor that reads the folder is not counted.
void put_descriptors(FILE* out, int own, const char* separator) {
  DIR* folder = opendir("/proc/self/fd");
  const char* before = "";
  for (dirent* entry = readdir(folder); entry != nullptr; entry = readdir(folder)) {
    const int fd = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(folder) || fd == own) continue;
    // The lock of the stamp file is this program's own.
    if (fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) continue;
    fprintf(out, "%s%d", before, fd);
    before = separator;
  }
  closedir(folder);
}

}  // namespace

void write_descriptors(const char* path) {
  char aside[4096];
  FILE* out = open_aside(path, aside, sizeof aside);
  if (out == nullptr) return;
  put_descriptors(out, fileno(out), " ");
  fputc('\n', out);
  fclose(out);
  rename(aside, path);
}

void write_report(const char* path) {
  char aside[4096];
  char cwd[4096];
  FILE* out = open_aside(path, aside, sizeof aside);
  if (out == nullptr) return;
  const mode_t mask = umask(0);
  umask(mask);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  errno = 0;
  fprintf(out, "{\"pid\": %d, \"ppid\": %d, \"pgid\": %d, \"sid\": %d,\n", getpid(), getppid(),
          getpgid(0), getsid(0));
  fprintf(out, "\"uid\": %u, \"euid\": %u, \"gid\": %u, \"egid\": %u,\n", getuid(), geteuid(),
          getgid(), getegid());
  fprintf(out, "\"umask\": %u, \"nice\": %d, \"cpus\": %d", mask, getpriority(PRIO_PROCESS, 0),
          CPU_COUNT(&cpus));
  put_groups(out);
  fputs(",\n\"cwd\": ", out);
  put_text(out, getcwd(cwd, sizeof cwd) == nullptr ? "" : cwd);
  put_field_of_file(out, "blocked", "/proc/self/status", "SigBlk:");
  put_field_of_file(out, "ignored", "/proc/self/status", "SigIgn:");
  put_field_of_file(out, "oom_score_adj", "/proc/self/oom_score_adj", "");
  put_limit(out, "limit_files", RLIMIT_NOFILE);
  put_limit(out, "limit_core", RLIMIT_CORE);
  put_limit(out, "limit_processes", RLIMIT_NPROC);
  put_limit(out, "limit_memory", RLIMIT_AS);
  fputs(",\n\"fds\": [", out);
  put_descriptors(out, fileno(out), ", ");
  fputc(']', out);
  put_list(out, "argv", arguments());
  put_list(out, "env", environ);
  fputs("}\n", out);
  fclose(out);
  rename(aside, path);
}

}  // namespace fdbpack::test_child
