// SPDX-License-Identifier: Apache-2.0
// What each way of sharing a step out over GPUs gives and costs when it is the only one: the table
// that courses fill with "high", "medium" and "low", in this model's and this machine's own
// numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct TechniqueFigures {
  std::int64_t memory_bytes = 0;  // of the fullest device
  bool fits = false;
  std::int64_t sent_bytes = 0;  // in a step, by the first rank of the stage that sends most
  double seconds = 0;           // of a step
  double exposed_seconds = 0;   // communication that computing does not hide
  double bubble = 0;            // idle / (idle + busy)
  // What each of these devices does, as share of what one with room for all would do.
  double efficiency = 0;
};

struct Technique {
  std::string id;  // "dp", "zero", "tp", "sp", "cp", "pp", "ep"
  Message title;   // "DP", "ZeRO 3 (FSDP)", "TP with SP"
  Message cut;     // what it cuts
  Setup setup;     // the asked one with this axis alone over the ranks
  std::optional<TechniqueFigures> figures;
  std::optional<Message> refused;  // why there are none
};

struct Techniques {
  int ranks = 0;
  std::int64_t global_batch = 0;  // sequences, the same in every row
  double one_seconds = 0;         // of a step on one device, whether it fits or not
  std::vector<Technique> rows;
};

// The model, batch, precision and all that has nothing to do with an axis stay as `asked` says.
// `machine` is what it runs on, on `ranks` devices.
// Errors: one rank, which shares nothing; or what validate() has against one device.
Result<Techniques> techniques_of(const Setup& asked, const Machine& machine, int ranks);

// {"ranks", "global_batch", "one_seconds", "techniques": [{"id", "title", "cut", "setup",
// "memory_bytes", "fits", "sent_bytes", "seconds", "exposed_seconds", "bubble", "efficiency",
// "refused"}]}
nlohmann::json to_json(const Techniques& techniques);

}  // namespace parallelarium
