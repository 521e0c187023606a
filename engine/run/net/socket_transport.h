// SPDX-License-Identifier: Apache-2.0
// The Transport between processes on CPUs, with a TCP connection between every two ranks.
//
// Mail moves the messages (mail.h), so a transfer is a rendezvous here too, whatever the system
// buffers. Collectives are direct, as between threads: every member sends each other member its
// chunk, adds what arrives in rank order, and sends the sum to all. The bits are those of threads.
#pragma once

#include <memory>

#include "engine/plan/program/program.h"
#include "engine/run/net/world.h"
#include "engine/run/transport.h"

namespace parallelarium {

// References outlive it. Takes the world's links.
std::unique_ptr<Transport> make_socket_transport(World& world, const Program& program, Stop& stop);

// The barrier alone, for ranks that send their messages another way, such as through NCCL.
std::unique_ptr<Transport> make_world_barrier(World& world);

}  // namespace parallelarium
