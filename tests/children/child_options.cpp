// SPDX-License-Identifier: Apache-2.0
#include "tests/children/child_options.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace fdbpack::test_child {
namespace {

int count = 0;
char** values = nullptr;
// Flags are looked up in a copy, because the step `argv` tears the original apart.
char** copies = nullptr;

bool same_letter(char a, char b) {
  return (a == '-' ? '_' : a) == (b == '-' ? '_' : b);
}

const char* value_if(const char* argument, const char* name) {
  if (strncmp(argument, "--", 2) != 0) return nullptr;
  const char* at = argument + 2;
  while (*name != '\0' && same_letter(*at, *name)) {
    ++at;
    ++name;
  }
  return *name == '\0' && *at == '=' ? at + 1 : nullptr;
}

}  // namespace

void set_arguments(int argc, char** argv) {
  count = argc;
  values = argv;
  copies = static_cast<char**>(calloc(static_cast<unsigned long>(argc) + 1, sizeof(char*)));
  for (int i = 0; i < argc; ++i)
    copies[i] = strdup(argv[i]);
}

int argument_count() {
  return count;
}

char** arguments() {
  return values;
}

const char* flag(const char* name, const char* fallback) {
  for (int i = count - 1; i > 0; --i) {
    const char* value = value_if(copies[i], name);
    if (value != nullptr) return value;
  }
  return fallback;
}

long flag_number(const char* name, long fallback) {
  const char* value = flag(name, nullptr);
  return value == nullptr ? fallback : strtol(value, nullptr, 10);
}

bool write_all(int fd, const char* data, unsigned long size) {
  while (size > 0) {
    const long written = write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= static_cast<unsigned long>(written);
  }
  return true;
}

}  // namespace fdbpack::test_child
