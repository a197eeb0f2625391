// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/rotating_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

namespace fdbpack::posix {
namespace {

namespace fs = std::filesystem;
constexpr ::mode_t kMode = 0640;
constexpr std::size_t kStampSize = sizeof("2026-01-02T03-04-05.678") - 1;

std::string stamp() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H-%M-%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d",
                static_cast<int>(now.tv_nsec / 1'000'000) % 1000);
  return std::string(text.data(), size) + fraction.data();
}

// Set aside from `path`: its stem, a dash, a stamp, its extension.
bool is_set_aside(const fs::path& candidate, const fs::path& path) {
  const std::string prefix = path.stem().string() + "-";
  const std::string name = candidate.filename().string();
  return name.starts_with(prefix) && name.ends_with(path.extension().string()) &&
         name.size() == prefix.size() + kStampSize + path.extension().string().size();
}

}  // namespace

RotatingFile::RotatingFile(std::string path, RotationLimits limits)
    : path_(std::move(path)), limits_(limits) {
  std::error_code ignored;
  const fs::path directory = fs::path(path_).parent_path();
  if (!directory.empty()) fs::create_directories(directory, ignored);
}

bool RotatingFile::open() {
  if (file_) return true;
  file_ = UniqueFd(::open(
      path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kMode));
  struct stat info {};
  if (!file_ || ::fstat(file_.get(), &info) != 0) {
    error_ = "opening " + path_ + ": " + std::strerror(errno);
    file_.reset();
    return false;
  }
  bytes_ = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  return true;
}

void RotatingFile::write(std::string_view line) {
  if (!open()) return;
  if (bytes_ > 0 && bytes_ + line.size() > limits_.bytes_max) {
    rotate();
    if (!open()) return;
  }
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    error_ = "writing " + path_ + ": " + (written < 0 ? std::strerror(errno) : "no room");
    file_.reset();
    return;
  }
  bytes_ += line.size();
  error_.clear();
}

void RotatingFile::rotate() {
  file_.reset();
  const fs::path path(path_);
  const std::string name = path.stem().string() + "-" + stamp() + path.extension().string();
  const fs::path aside = path.parent_path() / name;
  if (::rename(path_.c_str(), aside.c_str()) != 0) {
    // Rather a file that is cut than a disk that is full.
    if (::truncate(path_.c_str(), 0) != 0)
      error_ = "emptying " + path_ + ": " + std::strerror(errno);
  }
  remove_old();
}

void RotatingFile::remove_old() const {
  const fs::path path(path_);
  const fs::path directory = path.parent_path().empty() ? "." : path.parent_path();
  std::error_code error;
  std::vector<fs::path> aside;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_set_aside(entry->path(), path)) aside.push_back(entry->path());
  }
  std::sort(aside.rbegin(), aside.rend());  // the newest first
  const auto now = fs::file_time_type::clock::now();
  for (std::size_t i = 0; i < aside.size(); ++i) {
    const auto written = fs::last_write_time(aside[i], error);
    const bool is_old = !error && now - written > limits_.age_max;
    if (i >= limits_.kept_max || is_old) fs::remove(aside[i], error);
  }
}

}  // namespace fdbpack::posix
