// SPDX-License-Identifier: Apache-2.0
//
// What a client may ask of a server, so that none can take it from the others.
//
//   accept ── handshake, header ──> body ──> answer ──> write ──> idle ── next header …
//             header_deadline       request_   answer_   write_     idle_deadline
//                                   deadline   deadline  deadline
#pragma once

#include <chrono>
#include <cstddef>

namespace fdbpack::http {

struct Limits {
  std::size_t header_bytes_max = 8 * 1024;  // request line and fields
  std::size_t target_bytes_max = 4 * 1024;
  std::size_t header_fields_max = 100;
  std::size_t body_bytes_max = 64 * 1024;
  std::size_t upload_bytes_max = 1024 * 1024;  // for calls that take a document
  std::size_t json_depth_max = 32;
  std::size_t pipelined_max = 16;  // answers that are gathered into one write

  std::chrono::milliseconds header_deadline{5'000};
  std::chrono::milliseconds request_deadline{30'000};
  std::chrono::milliseconds answer_deadline{60'000};
  std::chrono::milliseconds write_deadline{30'000};
  std::chrono::milliseconds idle_deadline{30'000};
  std::chrono::milliseconds farewell_deadline{1'000};  // for the client to read its last answer
  // A client that sends no more may still read, or may have closed: so long it is worked for.
  std::chrono::milliseconds half_closed_deadline{5'000};

  std::size_t connections_max = 256;
  std::size_t connections_per_peer_max = 16;
  // Beyond the two above, for probes alone: a server that is full still says that it lives.
  std::size_t probe_connections_max = 8;
};

}  // namespace fdbpack::http
