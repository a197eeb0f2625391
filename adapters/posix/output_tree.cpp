// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/output_tree.hpp"

#include "fdbpack/base/text.hpp"

#include <openssl/evp.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <memory>

namespace fdbpack::posix {
namespace {

constexpr std::string_view kTemporaryPrefix = ".fdbpack-tmp.";
constexpr std::size_t kBlockSize = 256 * 1024;
constexpr ::mode_t kPermissions = 0777;
constexpr int kAttemptsMax = 16;
constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // a FIFO must not hang us

Error tree_error(const std::string& doing, int error) {
  Error result = errno_error(doing, error);
  result.code = ErrorCode::unavailable;
  if (error == ENOENT || error == ENOTDIR) result.code = ErrorCode::not_found;
  if (error == EXDEV || error == ELOOP) {
    result = {ErrorCode::permission_denied, doing + ": the path leads out of the directory"};
  }
  return result;
}

int open_beneath(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<__u64>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const auto fd = ::syscall(SYS_openat2, root, path, &how, sizeof how);
    // The kernel could not be sure because somebody renamed something meanwhile.
    if (fd >= 0 || errno != EAGAIN) return static_cast<int>(fd);
  }
  return -1;
}

// The same without openat2: no ".." and no symbolic link anywhere.
int open_stepwise(int root, const std::string& path, int flags) {
  UniqueFd folder(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto parts = text::split(path, '/');
  for (std::size_t i = 0; folder && i < parts.size(); ++i) {
    const std::string part(parts[i]);
    if (part == ".." || part.empty()) {
      errno = EXDEV;
      return -1;
    }
    const bool is_last = i + 1 == parts.size();
    const int how = is_last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    UniqueFd next(::openat(folder.get(), part.c_str(), how | O_NOFOLLOW));
    if (is_last) return next.release();
    folder = std::move(next);
  }
  return folder.release();
}

Status read_blocks(int fd, const std::string& name, const std::atomic<bool>& is_cancelled,
                   const std::function<Status(std::string_view)>& take) {
  const auto block = std::make_unique<std::array<char, kBlockSize>>();
  for (;;) {
    if (is_cancelled) return fail(ErrorCode::unavailable, "reading " + name + ": we are ending");
    const ssize_t got = ::read(fd, block->data(), block->size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(tree_error("reading " + name, errno));
    if (got == 0) return {};
    FDBPACK_TRY_VOID(take({block->data(), static_cast<std::size_t>(got)}));
  }
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(tree_error("writing", errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<struct ::stat> regular_file(int fd, const std::string& name) {
  struct ::stat info {};
  if (::fstat(fd, &info) != 0) return fail(tree_error("looking at " + name, errno));
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::unavailable, name + " is not a regular file");
  }
  return info;
}

std::string temporary_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
    number = static_cast<std::uint64_t>(::getpid());
  }
  return std::string(kTemporaryPrefix) + std::to_string(number);
}

Status sync_folder(int fd, const std::string& name) {
  // Some filesystems have nothing to sync in a folder and say so.
  if (::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return fail(tree_error("syncing the folder of " + name, errno));
}

// Whether the rest of two open files is the same.
Result<bool> have_same_content(int a, int b, const std::atomic<bool>& is_cancelled) {
  bool is_same = true;
  std::string other;
  FDBPACK_TRY_VOID(
      read_blocks(a, "the source", is_cancelled, [&](std::string_view block) -> Status {
        other.resize(block.size());
        std::size_t filled = 0;
        while (is_same && filled < other.size()) {
          const ssize_t got = ::read(b, other.data() + filled, other.size() - filled);
          if (got < 0 && errno == EINTR) continue;
          is_same = got > 0;
          filled += is_same ? static_cast<std::size_t>(got) : 0;
        }
        is_same = is_same && other == block;
        return {};
      }));
  return is_same;
}

}  // namespace

Result<UniqueFd> PosixOutputTree::open_root() const {
  UniqueFd root(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    // Not `not_found`: that is said of what is looked for below.
    return fail(ErrorCode::unavailable, errno_error("opening " + root_, errno).message);
  }
  return root;
}

Result<UniqueFd> PosixOutputTree::open_below(const std::string& path, int flags) const {
  const std::string name = root_ + "/" + path;
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(ErrorCode::not_found, name + " is no path");
  }
  FDBPACK_TRY(const UniqueFd root, open_root());
  UniqueFd file(open_beneath(root.get(), path.c_str(), flags));
  // Old sandboxes answer EPERM to calls that they do not know.
  if (!file && (errno == ENOSYS || errno == EPERM)) {
    file = UniqueFd(open_stepwise(root.get(), path, flags));
  }
  if (!file) return fail(tree_error("opening " + name, errno));
  return file;
}

Result<UniqueFd> PosixOutputTree::open_file(const std::string& path) const {
  FDBPACK_TRY(UniqueFd file, open_below(path, kFileFlags));
  FDBPACK_TRY_VOID(regular_file(file.get(), root_ + "/" + path));
  return file;
}

Result<std::string> PosixOutputTree::hash(const std::string& path,
                                          const std::atomic<bool>& is_unwanted) {
  FDBPACK_TRY(const UniqueFd file, open_file(path));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  bool is_good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  FDBPACK_TRY_VOID(
      read_blocks(file.get(), path, is_cancelled_, [&](std::string_view block) -> Status {
        if (is_unwanted) return fail(ErrorCode::unavailable, "nobody waits for it any more");
        is_good = is_good && EVP_DigestUpdate(context.get(), block.data(), block.size()) == 1;
        return {};
      }));
  if (!is_good || EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1) {
    return fail(ErrorCode::internal, "hashing " + path + " failed");
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4U];
    text += kHex[digest[i] & 0xFU];
  }
  return text;
}

Result<bool> PosixOutputTree::exists(const std::string& path) {
  const auto found = open_below(path, O_PATH | O_CLOEXEC);
  if (found) return true;
  if (found.error().code == ErrorCode::not_found) return false;
  return fail(found.error());
}

Result<UniqueFd> PosixOutputTree::make_folder(const std::string& path) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  FDBPACK_TRY(UniqueFd folder, open_root());
  std::string so_far;
  for (const std::string_view part : text::split(path, '/')) {
    if (part.empty() || part == ".") continue;
    so_far += (so_far.empty() ? "" : "/") + std::string(part);
    auto next = open_below(so_far, kFlags);
    if (!next && next.error().code == ErrorCode::not_found) {
      const std::string name(part);
      if (::mkdirat(folder.get(), name.c_str(), kPermissions) != 0 && errno != EEXIST) {
        return fail(tree_error("making directory " + root_ + "/" + so_far, errno));
      }
      FDBPACK_TRY_VOID(sync_folder(folder.get(), so_far));
      next = open_below(so_far, kFlags);
    }
    if (!next) return fail(next.error());
    folder = *std::move(next);
  }
  return folder;
}

Status PosixOutputTree::replace(const std::string& path, unsigned mode, const Fill& fill) const {
  const std::string doing = "writing " + root_ + "/" + path;
  const auto slash = path.rfind('/');
  FDBPACK_TRY(const UniqueFd folder, make_folder(slash == path.npos ? "." : path.substr(0, slash)));
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  const std::string temporary = temporary_name();
  UniqueFd file(::openat(folder.get(), temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail(tree_error(doing, errno));
  ::flock(file.get(), LOCK_EX | LOCK_NB);  // where there are no locks, there is no sweep either
  Status filled = fill(file.get());
  int error = 0;
  if (filled &&
      (::fchmod(file.get(), static_cast<::mode_t>(mode)) != 0 || ::fsync(file.get()) != 0 ||
       ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0)) {
    error = errno;
  }
  if (filled && error == 0) return sync_folder(folder.get(), path);
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  if (!filled) return fail(with_context(filled.error(), doing));
  return fail(ErrorCode::unavailable, errno_error(doing, error).message);
}

Result<bool> PosixOutputTree::is_same(int source, const ports::CopyRequest& request,
                                      unsigned mode) const {
  const auto target = open_file(request.target);
  if (!target) return false;
  FDBPACK_TRY(const auto wanted, regular_file(source, request.source));
  FDBPACK_TRY(const auto there, regular_file(target->get(), request.target));
  if (wanted.st_size != there.st_size || (there.st_mode & kPermissions) != mode) return false;
  FDBPACK_TRY(const bool is_same, have_same_content(source, target->get(), is_cancelled_));
  if (!is_same && ::lseek(source, 0, SEEK_SET) != 0) {
    return fail(tree_error("reading " + request.source, errno));
  }
  return is_same;
}

Status PosixOutputTree::copy(const ports::CopyRequest& request) {
  const UniqueFd source(::open(request.source.c_str(), kFileFlags));
  if (!source) {
    return fail(ErrorCode::unavailable, errno_error("reading " + request.source, errno).message);
  }
  FDBPACK_TRY(const auto info, regular_file(source.get(), request.source));
  const unsigned mode = request.mode.value_or(info.st_mode & kPermissions);
  if (request.keeps_same) {
    FDBPACK_TRY(const bool is_there, is_same(source.get(), request, mode));
    if (is_there) return {};
  }
  return replace(request.target, mode, [&](int fd) {
    return read_blocks(source.get(), request.source, is_cancelled_,
                       [fd](std::string_view block) { return write_all(fd, block); });
  });
}

Status PosixOutputTree::write(const std::string& path, std::string_view text, unsigned mode) {
  return replace(path, mode, [text](int fd) { return write_all(fd, text); });
}

void PosixOutputTree::sweep(const std::string& folder) {
  auto fd = open_below(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!fd) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd->get()), ::closedir);
  if (!entries) return;
  const int directory = fd->release();  // it is the stream's now
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(kTemporaryPrefix)) continue;
    const UniqueFd file(::openat(directory, name.c_str(), kFileFlags | O_NOFOLLOW));
    const bool is_abandoned = file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    if (is_abandoned) ::unlinkat(directory, name.c_str(), 0);
  }
}

}  // namespace fdbpack::posix
