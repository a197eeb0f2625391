// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/accounts.hpp"

#include "adapters/posix/fd.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <vector>

namespace fdbpack::posix {
namespace {

constexpr std::size_t kEntryBytesMax = 1024 * 1024;

// Calls a get..._r function with ever larger buffers. 0: `use` was called; else the errno, ENOENT
// when there is no such entry.
template <class Entry, class Get, class Use>
int with_entry(Get get, Use use) {
  for (std::size_t size = 1024; size <= kEntryBytesMax; size *= 4) {
    std::vector<char> buffer(size);
    Entry entry{};
    Entry* found = nullptr;
    const int error_number = get(&entry, buffer.data(), buffer.size(), &found);
    if (error_number == ERANGE) continue;
    if (error_number != 0) return error_number;
    if (found == nullptr) return ENOENT;
    use(entry);
    return 0;
  }
  return ERANGE;
}

std::vector<std::uint32_t> groups_of(const char* user, gid_t gid) {
  int count = 32;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (::getgrouplist(user, gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(user, gid, groups.data(), &count);
  }
  groups.resize(static_cast<std::size_t>(count));
  return {groups.begin(), groups.end()};
}

Error unknown(const char* what, const std::string& name, int error_number) {
  if (error_number == ENOENT) {
    return Error{ErrorCode::not_found, std::string("there is no ") + what + " \"" + name + "\""};
  }
  return errno_error(std::string("looking up ") + what + " \"" + name + "\"", error_number);
}

}  // namespace

Result<ports::Identity> PosixAccounts::look_up(const std::string& user, const std::string& group) {
  ports::Identity identity;
  identity.uid = ::geteuid();
  identity.gid = ::getegid();
  std::string account = user;
  const auto use_user = [&](const passwd& entry) {
    identity.uid = entry.pw_uid;
    if (!user.empty()) identity.gid = entry.pw_gid;
    account = entry.pw_name;
  };
  const int user_error = with_entry<passwd>(
      [&](passwd* entry, char* buffer, std::size_t size, passwd** found) {
        return user.empty() ? ::getpwuid_r(::geteuid(), entry, buffer, size, found)
                            : ::getpwnam_r(user.c_str(), entry, buffer, size, found);
      },
      use_user);
  if (user_error != 0 && !user.empty()) return fail(unknown("user", user, user_error));
  if (!group.empty()) {
    const int group_error = with_entry<::group>(
        [&](::group* entry, char* buffer, std::size_t size, ::group** found) {
          return ::getgrnam_r(group.c_str(), entry, buffer, size, found);
        },
        [&](const ::group& entry) { identity.gid = entry.gr_gid; });
    if (group_error != 0) return fail(unknown("group", group, group_error));
  }
  // An arbitrary uid without an account, as containers have it, has the one group.
  identity.groups = account.empty() ? std::vector<std::uint32_t>{identity.gid}
                                    : groups_of(account.c_str(), identity.gid);
  return identity;
}

}  // namespace fdbpack::posix
