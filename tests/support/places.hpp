// SPDX-License-Identifier: Apache-2.0
//
// Where the sources and the programs under test are. In one file, because what is compiled with a
// path in it serves no other checkout.
#pragma once

#include <string>

namespace fdbpack::test {

// source_file("docs/http-api.md")
[[nodiscard]] std::string source_file(const std::string& name);
// program_file("fdbpack-agent")
[[nodiscard]] std::string program_file(const std::string& name);

}  // namespace fdbpack::test
