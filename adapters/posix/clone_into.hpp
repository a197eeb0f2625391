// SPDX-License-Identifier: Apache-2.0
//
// clone with a stack of its own. glibc's clone() does all that is needed except putting the new
// process into a cgroup from its first instruction on; that takes clone3, which glibc does not
// offer, and a few lines of assembly for the one thing C cannot say: going on with another stack.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace fdbpack::posix {

struct Cloned {
  pid_t pid = 0;
  int pidfd = -1;
  int error_number = 0;
};

struct CloneArguments {  // struct clone_args of linux/sched.h, as of Linux 5.7
  std::uint64_t flags = 0;
  std::uint64_t pidfd = 0;
  std::uint64_t child_tid = 0;
  std::uint64_t parent_tid = 0;
  std::uint64_t exit_signal = 0;
  std::uint64_t stack = 0;
  std::uint64_t stack_size = 0;
  std::uint64_t tls = 0;
  std::uint64_t set_tid = 0;
  std::uint64_t set_tid_size = 0;
  std::uint64_t cgroup = 0;
};

// The pid, or minus the errno. `entry` must not return.
inline long clone3_onto(const CloneArguments& arguments, int (*entry)(void*), void* argument) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  // Registers live on in the child; its stack is empty and 16-byte aligned, as `call` wants it.
  register auto entry_register __asm__("r12") = entry;
  register auto argument_register __asm__("r13") = argument;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(entry_register), "r"(argument_register)
      : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number __asm__("x8") = SYS_clone3;
  register const void* first __asm__("x0") = &arguments;
  register std::size_t second __asm__("x1") = sizeof arguments;
  register auto entry_register __asm__("x20") = entry;
  register auto argument_register __asm__("x21") = argument;
  __asm__ volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x21\n\t"
      "blr x20\n\t"
      "brk #1\n"
      "1:"
      : "+r"(first)
      : "r"(number), "r"(second), "r"(entry_register), "r"(argument_register)
      : "memory", "x30");
  return reinterpret_cast<long>(first);
#else
  static_cast<void>(arguments), static_cast<void>(entry), static_cast<void>(argument);
  return -ENOSYS;
#endif
}

// Runs `entry(argument)` in a new process that shares our memory and descriptor table, while we are
// stopped; returns when it has executed another program or has ended.
inline Cloned clone_process(int (*entry)(void*), void* argument, std::byte* stack,
                            std::size_t stack_bytes, int cgroup_fd) {
  constexpr int kFlags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD;
  constexpr std::uint64_t kIntoCgroup = 0x200000000;
  Cloned cloned;
  if (cgroup_fd >= 0) {
    CloneArguments arguments;
    arguments.flags = static_cast<std::uint64_t>(kFlags) | kIntoCgroup;
    arguments.pidfd = reinterpret_cast<std::uintptr_t>(&cloned.pidfd);
    arguments.exit_signal = SIGCHLD;
    arguments.stack = reinterpret_cast<std::uintptr_t>(stack);
    arguments.stack_size = stack_bytes & ~std::size_t{15};
    arguments.cgroup = static_cast<std::uint64_t>(cgroup_fd);
    const long pid = clone3_onto(arguments, entry, argument);
    if (pid < 0) cloned.error_number = static_cast<int>(-pid);
    cloned.pid = static_cast<pid_t>(pid);
    return cloned;
  }
  cloned.pid = ::clone(entry, stack + stack_bytes, kFlags | SIGCHLD, argument, &cloned.pidfd);
  if (cloned.pid < 0) cloned.error_number = errno;
  return cloned;
}

}  // namespace fdbpack::posix
