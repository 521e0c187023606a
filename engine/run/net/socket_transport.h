// SPDX-License-Identifier: Apache-2.0
// The Transport between processes on CPUs: TCP connections between every two ranks.
//
// A receiver tells the sender that its buffer is ready; only then do the bytes travel, straight
// into it. So a transfer is a rendezvous here too, whatever the system buffers. One thread for each
// peer reads; nothing it does waits for anything but that peer's bytes, so two ranks may write to
// each other at once. Collectives are direct, as between threads: every member sends each other one
// its chunk, adds what arrives in rank order, and sends the sum round; the bits are those of
// threads.
#pragma once

#include <memory>

#include "engine/plan/program/program.h"
#include "engine/run/net/world.h"
#include "engine/run/transport.h"

namespace parallelarium {

// References outlive it. Takes the world's links.
std::unique_ptr<Transport> make_socket_transport(World& world, const Program& program, Stop& stop);

// Only the barrier: for ranks whose messages take another way, such as NCCL.
std::unique_ptr<Transport> make_world_barrier(World& world);

}  // namespace parallelarium
