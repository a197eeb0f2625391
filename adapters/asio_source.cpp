// SPDX-License-Identifier: Apache-2.0
//
// Asio is compiled here and nowhere else.
#include <boost/asio/impl/src.hpp>
