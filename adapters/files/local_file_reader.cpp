// SPDX-License-Identifier: Apache-2.0
#include "adapters/files/local_file_reader.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace fdbpack::adapters {
namespace {

Error file_error(const std::string& path, int code) {
  const ErrorCode kind = code == ENOENT || code == ENOTDIR ? ErrorCode::not_found
                         : code == EACCES                  ? ErrorCode::permission_denied
                                                           : ErrorCode::unavailable;
  return {kind, fmt::format("cannot read {}: {}", path, std::generic_category().message(code))};
}

Result<std::string> read_all(int fd, const std::string& path) {
  std::string content;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count < 0) {
      if (errno == EINTR) continue;
      return fail(file_error(path, errno));
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > LocalFileReader::kFileBytesMax) {
      return fail(ErrorCode::invalid_argument, fmt::format("{} is larger than {} MiB", path,
                                                           LocalFileReader::kFileBytesMax >> 20));
    }
  }
}

}  // namespace

Result<std::string> LocalFileReader::read(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(file_error(path, errno));
  Result<std::string> content = read_all(fd, path);
  ::close(fd);
  return content;
}

Result<std::vector<std::string>> LocalFileReader::list(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    // Reading a pipe or a device could wait for ever.
    const auto type = it->status(error).type();
    const bool can_be_read = type == std::filesystem::file_type::regular ||
                             type == std::filesystem::file_type::directory ||
                             type == std::filesystem::file_type::not_found;
    if (!error && !can_be_read) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} is neither a file nor a folder", it->path().string()));
    }
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error) return fail(file_error(directory, error.value()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fdbpack::adapters
