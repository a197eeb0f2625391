// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/output_tree.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstddef>
#include <filesystem>
#include <functional>

namespace fdbpack::posix {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHash = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";

const std::atomic<bool> kIsUnwanted = false;

class OutputTree : public testing::Test {
 protected:
  OutputTree() {
    dir_.write("secret", "hello world");
    dir_.write("out/file", "hello world");
    dir_.write("out/a/b/file", "hello world");
    fs::create_symlink("../secret", dir_.path() / "out/leads_out");
    fs::create_symlink(dir_.path() / "secret", dir_.path() / "out/leads_out_whole");
    fs::create_symlink("a/b/file", dir_.path() / "out/stays_in");
  }

  ErrorCode hash_error(const std::string& path) {
    const auto hash = tree_.hash(path, kIsUnwanted);
    EXPECT_FALSE(hash) << path;
    return hash ? ErrorCode::internal : hash.error().code;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return test::read_file(dir_.file("out/" + name));
  }
  [[nodiscard]] unsigned mode(const std::string& name) const {
    struct ::stat info {};
    EXPECT_EQ(::stat(dir_.file("out/" + name).c_str(), &info), 0);
    return info.st_mode & 07777U;
  }

  support::TempDir dir_;
  PosixOutputTree tree_{dir_.file("out")};
};

TEST_F(OutputTree, Hashes) {
  EXPECT_EQ(tree_.hash("file", kIsUnwanted).value_or(""), kHash);
  EXPECT_EQ(tree_.hash("a/b/file", kIsUnwanted).value_or(""), kHash);
  EXPECT_EQ(tree_.hash("stays_in", kIsUnwanted).value_or(""), kHash);
  dir_.write("out/empty", "");
  EXPECT_EQ(tree_.hash("empty", kIsUnwanted).value_or(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(OutputTree, DoesNotHashForNobody) {
  const std::atomic<bool> is_unwanted = true;
  EXPECT_EQ(tree_.hash("file", is_unwanted).error().code, ErrorCode::unavailable);
}

TEST_F(OutputTree, TellsWhatIsMissingFromWhatIsForbidden) {
  EXPECT_EQ(hash_error("none"), ErrorCode::not_found);
  EXPECT_EQ(hash_error("file/x"), ErrorCode::not_found);
  EXPECT_EQ(hash_error(""), ErrorCode::not_found);
  EXPECT_EQ(hash_error(std::string("fi\0le", 5)), ErrorCode::not_found);
  EXPECT_EQ(hash_error("a"), ErrorCode::unavailable);
  EXPECT_EQ(hash_error("../secret"), ErrorCode::permission_denied);
  EXPECT_EQ(hash_error("leads_out"), ErrorCode::permission_denied);
  EXPECT_EQ(hash_error("leads_out_whole"), ErrorCode::permission_denied);
  EXPECT_EQ(hash_error(dir_.file("secret")), ErrorCode::permission_denied);
  PosixOutputTree nowhere(dir_.file("none"));
  EXPECT_EQ(nowhere.hash("file", kIsUnwanted).error().code, ErrorCode::unavailable);
}

TEST_F(OutputTree, KnowsWhatIsThere) {
  EXPECT_TRUE(tree_.exists("file").value_or(false));
  EXPECT_TRUE(tree_.exists("a/b").value_or(false));
  EXPECT_TRUE(tree_.exists(".").value_or(false));
  EXPECT_FALSE(tree_.exists("none").value_or(true));
  EXPECT_EQ(tree_.exists("leads_out").error().code, ErrorCode::permission_denied);
}

TEST_F(OutputTree, WritesWithItsMode) {
  ASSERT_TRUE(tree_.write("conf", "text", 0600));
  EXPECT_EQ(read("conf"), "text");
  EXPECT_EQ(mode("conf"), 0600U);
  ASSERT_TRUE(tree_.write("new/folder/conf", "text", 0640));
  EXPECT_EQ(mode("new/folder/conf"), 0640U);
}

TEST_F(OutputTree, CopiesWithTheModeOfTheSourceOrItsOwn) {
  const std::string source = dir_.write("source", "bytes");
  ::chmod(source.c_str(), 04751);
  ASSERT_TRUE(tree_.copy({source, "x", std::nullopt, false}));
  EXPECT_EQ(mode("x"), 0751U);  // without the bits that give away rights
  ASSERT_TRUE(tree_.copy({source, "y", 0744, false}));
  EXPECT_EQ(mode("y"), 0744U);
  EXPECT_EQ(read("y"), "bytes");
}

TEST_F(OutputTree, LeavesAloneWhatIsTheSame) {
  const std::string source = dir_.write("source", std::string(600'000, 'x') + "1");
  const ports::CopyRequest request{source, "x", 0744, true};
  ASSERT_TRUE(tree_.copy(request));
  struct ::stat before {};
  struct ::stat after {};
  ::stat(dir_.file("out/x").c_str(), &before);
  ASSERT_TRUE(tree_.copy(request));
  ::stat(dir_.file("out/x").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  dir_.write("out/x", std::string(600'000, 'x') + "2");  // as long, and different at its end
  ASSERT_TRUE(tree_.copy(request));
  EXPECT_EQ(read("x").back(), '1');
}

TEST_F(OutputTree, WhatFailsLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(tree_.write("conf", "old", 0600));
  EXPECT_FALSE(tree_.copy({dir_.file("none"), "conf", std::nullopt, false}));
  EXPECT_FALSE(tree_.copy({dir_.file("out"), "conf", std::nullopt, false}));
  EXPECT_FALSE(tree_.write("a", "text", 0600));  // a directory
  EXPECT_FALSE(tree_.write("file/x", "text", 0600));
  tree_.cancel();
  EXPECT_FALSE(tree_.copy({dir_.file("secret"), "conf", std::nullopt, false}));
  EXPECT_EQ(read("conf"), "old");
  for (const auto& entry : fs::recursive_directory_iterator(dir_.path() / "out"))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".fdbpack")) << entry.path();
}

TEST_F(OutputTree, WritesReplaceLinksAndDoNotFollowThem) {
  ASSERT_TRUE(tree_.write("leads_out", "text", 0600));
  EXPECT_EQ(read("leads_out"), "text");
  fs::create_directory(dir_.path() / "elsewhere");
  fs::create_directory_symlink("../elsewhere", dir_.path() / "out/folder");
  const auto status = tree_.write("folder/x", "text", 0600);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::permission_denied);
  EXPECT_TRUE(fs::is_empty(dir_.path() / "elsewhere"));
}

TEST_F(OutputTree, SweepsWhatTheKilledLeft) {
  dir_.write("out/a/.fdbpack-tmp.1", "left behind");
  const std::string in_use = dir_.write("out/a/.fdbpack-tmp.2", "being written");
  dir_.write("out/a/.other", "not ours");
  const UniqueFd writer(::open(in_use.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
  tree_.sweep("a");
  tree_.sweep("none");
  EXPECT_FALSE(fs::exists(dir_.path() / "out/a/.fdbpack-tmp.1"));
  EXPECT_TRUE(fs::exists(dir_.path() / "out/a/.fdbpack-tmp.2"));
  EXPECT_TRUE(fs::exists(dir_.path() / "out/a/.other"));
}

// openat2 answers with this error from now on. For a process of its own.
bool forbid_openat2(unsigned error) {
  const ::sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const ::sock_fprog program{std::size(code), const_cast<::sock_filter*>(code)};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// An old kernel or sandbox: no link is followed at all, and everything else is as before.
TEST_F(OutputTree, DoesWithoutOpenat2) {
  for (const unsigned error : {unsigned{ENOSYS}, unsigned{EPERM}}) {
    const ::pid_t pid = ::fork();
    if (pid == 0) {
      const auto code = [&](const std::string& path) {
        const auto hash = tree_.hash(path, kIsUnwanted);
        return hash ? ErrorCode::internal : hash.error().code;
      };
      if (!forbid_openat2(error)) ::_exit(77);
      const bool is_good =
          tree_.hash("file", kIsUnwanted).value_or("") == kHash &&
          tree_.hash("a/b/file", kIsUnwanted).value_or("") == kHash &&
          tree_.exists(".").value_or(false) && code("none") == ErrorCode::not_found &&
          code("../secret") == ErrorCode::permission_denied &&
          code("/etc/passwd") == ErrorCode::permission_denied &&
          code("leads_out") == ErrorCode::permission_denied &&
          code("stays_in") == ErrorCode::permission_denied &&
          tree_.write("made/x", "text", 0600).has_value() && read("made/x") == "text";
      ::_exit(is_good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no system call filter can be set here";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "errno " << error;
    fs::remove_all(dir_.path() / "out/made");
  }
}

}  // namespace
}  // namespace fdbpack::posix
