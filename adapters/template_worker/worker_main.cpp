// SPDX-License-Identifier: Apache-2.0
//
// The child's side of template_worker.hpp.
#include "adapters/template_worker/template_worker.hpp"
#include "fdbpack/wire/render_request.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>

namespace fdbpack::adapters {
namespace {

// The sanitizers reserve terabytes and need a free descriptor to look at an object's type.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsPlainBuild = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsPlainBuild = false;
#else
constexpr bool kIsPlainBuild = true;
#endif
#elif defined(__SANITIZE_THREAD__)
constexpr bool kIsPlainBuild = false;
#else
constexpr bool kIsPlainBuild = true;
#endif

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  (void)::setrlimit(resource, &both);  // a limit that is lower already stays
}

void enter_sandbox() {
  if (kIsPlainBuild) {
    limit(RLIMIT_AS, 256u << 20);
    limit(RLIMIT_NOFILE, 3);
  }
  limit(RLIMIT_CPU, 2);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NPROC, 0);
  limit(RLIMIT_CORE, 0);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
}

std::string read_request() {
  std::string request;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return request;
    request.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void write_answer(std::string_view answer) {
  while (!answer.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, answer.data(), answer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    answer.remove_prefix(static_cast<std::size_t>(count));
  }
}

Result<std::string> render_request() {
  FDBPACK_TRY(const wire::RenderRequest request, wire::read_render_request(read_request()));
  return conf::render(request.templates, request.name, request.values_json);
}

}  // namespace

int run_template_worker() {
  enter_sandbox();
  try {
    write_answer(wire::write_render_answer(render_request()));
  } catch (const std::bad_alloc&) {
    const auto too_much =
        fail(ErrorCode::invalid_argument, "the template takes too much memory to render");
    write_answer(wire::write_render_answer(too_much));
  }
  return 0;
}

}  // namespace fdbpack::adapters
