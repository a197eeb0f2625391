// SPDX-License-Identifier: Apache-2.0
//
// Flags of `test-child`. A conf key `after_ms = 20` of a supervised section reaches it as
// `--after_ms=20`; flags that it does not know are accepted and ignored, because a conf has more
// keys than a test child has uses for.
#pragma once

namespace fdbpack::test_child {

// The value of `--name=value` among the arguments (hyphens and underscores are the same), or
// `fallback`. The last one wins.
const char* flag(const char* name, const char* fallback);
long flag_number(const char* name, long fallback);

void set_arguments(int argc, char** argv);
int argument_count();
char** arguments();

// Writes all of `data`, and goes on after EINTR. False when the other end is gone.
bool write_all(int fd, const char* data, unsigned long size);

// What this process got from whoever started it, as JSON in `path` (written aside, then renamed).
void write_report(const char* path);

// Open descriptors as "0 1 2\n" in `path` (written aside, then renamed).
void write_descriptors(const char* path);

}  // namespace fdbpack::test_child
