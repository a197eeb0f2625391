// SPDX-License-Identifier: Apache-2.0
//
// Beast and the TLS part of Asio are compiled here and nowhere else.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
