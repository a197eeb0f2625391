// SPDX-License-Identifier: Apache-2.0
//
// Addresses, connection strings and ports against the FDB operator's own tables.
#include "fdbpack/base/text.hpp"
#include "fdbpack/model/cluster_file.hpp"
#include "fdbpack/model/ip.hpp"
#include "fdbpack/model/ports.hpp"
#include "tests/support/goldens.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fdbpack::model {
namespace {

using nlohmann::json;

// {"IPAddress" or "StringAddress", "Port", "Flags", "FromHostname"}, all but the first optional.
Address expected_address(const json& fields) {
  Address address;
  address.host = fields.contains("IPAddress") ? fields.at("IPAddress").get<std::string>()
                                              : fields.at("StringAddress").get<std::string>();
  if (const auto ip = parse_ip(address.host)) address.host = to_string(*ip);
  address.port = fields.value("Port", std::uint16_t{0});
  if (fields.contains("Flags") && fields.at("Flags").is_object()) {
    address.tls = fields.at("Flags").value("tls", false);
  }
  address.from_hostname = fields.value("FromHostname", false);
  return address;
}

json table(const std::filesystem::path& folder, const std::string& name) {
  const auto files = support::golden_files(folder, name);
  return files.size() == 1 ? support::read_golden(files.front()).at("entries") : json::array();
}

TEST(OperatorAddress, IsParsedAndPrintedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "the-process-address-is-parsed");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const json& args = entry.at("args").at(0);
    const auto input = args.at("input").get<std::string>();
    const auto address = parse_address(input);
    ASSERT_EQ(address.has_value(), args.at("err").is_null()) << input;
    if (!address) continue;
    EXPECT_EQ(*address, expected_address(args.at("expectedAddr"))) << input;
    EXPECT_EQ(to_string(*address), args.at("expectedStr").get<std::string>());
  }
}

TEST(OperatorAddress, IsPrintedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "printing-a-process-address");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const json& args = entry.at("args").at(0);
    EXPECT_EQ(to_string(expected_address(args.at("processAddr"))),
              args.at("expected").get<std::string>());
  }
}

TEST(OperatorAddress, IsFoundOnACommandLine) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "parsing-the-addresses-from-the-process-commandline");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const json& args = entry.at("args").at(0);
    const auto line = args.at("cmdline").get<std::string>();
    std::vector<Address> expected;
    for (const auto& fields : args.at("expected"))
      expected.push_back(expected_address(fields));
    constexpr std::string_view kOption = "--public_address=";
    for (const auto word : text::split_words(line)) {
      if (!word.starts_with(kOption)) continue;
      const auto addresses = parse_addresses(word.substr(kOption.size()));
      ASSERT_TRUE(addresses) << addresses.error().message;
      EXPECT_EQ(*addresses, expected) << line;
      EXPECT_EQ(to_string(*addresses), word.substr(kOption.size()));
    }
  }
}

TEST(OperatorPorts, AreTheSame) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "getting-the-process-address-and-port");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const json& args = entry.at("args").at(0);
    const auto transport = args.at(1).get<bool>() ? Transport::tls : Transport::plain;
    const auto port = port_of("p", 0, args.at(0).get<std::uint32_t>(), transport);
    EXPECT_EQ(port.value(), args.at(2).get<int>());
  }
}

TEST(OperatorConnectionString, IsParsedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/tables");
  const json cases = support::read_golden(folder / "connection_string.json");
  ASSERT_FALSE(cases.empty());
  for (const auto& row : cases) {
    const auto input = row.at("in").get<std::string>();
    const auto connection = parse_connection_string(input);
    ASSERT_EQ(connection.has_value(), !row.contains("error")) << input;
    if (!connection) continue;
    if (row.contains("name")) {
      EXPECT_EQ(connection->description, row.at("name").get<std::string>());
    }
    if (row.contains("id")) {
      EXPECT_EQ(connection->id, row.at("id").get<std::string>());
    }
    std::vector<std::string> coordinators;
    for (const auto& address : connection->coordinators)
      coordinators.push_back(to_string(address));
    EXPECT_EQ(coordinators, row.at("coordinators").get<std::vector<std::string>>());
  }
}

TEST(OperatorConnectionString, DescriptionIsSanitizedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "sanitize-connection-string-description");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    EXPECT_EQ(sanitize_description(entry.at("args").at(0).get<std::string>()),
              entry.at("args").at(1).get<std::string>());
  }
}

}  // namespace
}  // namespace fdbpack::model
