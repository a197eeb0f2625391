// SPDX-License-Identifier: Apache-2.0
//
// std::visit(Overloaded{[](const A&) {...}, [](const B&) {...}}, variant)
#pragma once

namespace fdbpack {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace fdbpack
