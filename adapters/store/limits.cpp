// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/limits.hpp"

#include <set>
#include <string_view>

namespace fdbpack::store {

Status check_limits(const ports::StoreTransaction& transaction) {
  const auto refuse = [](std::string why) {
    return fail(ErrorCode::invalid_argument, "a transaction of the store " + std::move(why));
  };
  if (transaction.conditions.size() > ports::kStoreConditionsMax) {
    return refuse("has more than " + std::to_string(ports::kStoreConditionsMax) + " conditions");
  }
  if (transaction.writes.size() > ports::kStoreWritesMax) {
    return refuse("has more than " + std::to_string(ports::kStoreWritesMax) + " writes");
  }
  std::size_t bytes = 0;
  std::set<std::string_view> written;
  for (const auto& condition : transaction.conditions) {
    if (condition.key.empty()) return refuse("has a condition without a key");
    if (condition.key.size() > ports::kStoreKeyBytesMax) return refuse("has a key too long");
    bytes += condition.key.size();
  }
  for (const auto& write : transaction.writes) {
    if (write.key.empty()) return refuse("writes an empty key");
    if (write.key.size() > ports::kStoreKeyBytesMax) return refuse("has a key too long");
    if (!written.insert(write.key).second) return refuse("writes '" + write.key + "' twice");
    bytes += write.key.size() + (write.value ? write.value->size() : 0);
  }
  if (bytes > ports::kStoreTransactionBytesMax) {
    return refuse("has more than " + std::to_string(ports::kStoreTransactionBytesMax) + " bytes");
  }
  return {};
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF')
    prefix.pop_back();
  if (prefix.empty()) return prefix;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Error changed_since(const std::string& key) {
  return Error{ErrorCode::conflict, "'" + key + "' has changed since it was read"};
}

}  // namespace fdbpack::store
