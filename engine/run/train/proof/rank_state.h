// SPDX-License-Identifier: Apache-2.0
// Reads the contents of RankState from the memory of one rank: fingerprints of its weights between
// steps, and its own loss and gradients during a step, before they are added up over ranks. It
// never writes, so a training stays the same bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/run/train/executor/executor.h"
#include "engine/run/train/proof/held_parameters.h"

namespace parallelarium {

// Elements [begin, begin + count) of a whole parameter of the model.
struct OwnedRun {
  Parameter parameter = Parameter::kTokenTable;
  int layer = -1;
  std::int64_t begin = 0, count = 0;
};
// The elements of the model that the rank updates or, if `whole`, all that it holds. Neighbours are
// in one run. The padding of a vocabulary does not count. Ranks with equal lists must hold equal
// bytes.
std::vector<OwnedRun> owned_runs(const Setup& setup, const RankProgram& rank,
                                 const HeldParameters& held, bool whole = false);

class RankStateReader : public OpProbe {
 public:
  // References outlive this object. `device`: the compute lane's.
  RankStateReader(const Setup& setup, const Program& program, const RankProgram& rank,
                  const Arena& arena, Device& device);

  // owned_runs() as one number: for what the rank updates, and for all that it holds.
  std::uint64_t owned() const { return owned_; }
  std::uint64_t whole() const { return whole_; }
  // The present value of RankState::weights_before or weights_after. No op may be running. Error:
  // that of the device.
  Result<std::string> weights() { return print(owned_, false); }
  // has_copy() says whether there is a RankState::copy_after; copy() returns it, in the same way as
  // weights().
  bool has_copy() const { return held_.keeps_all(Tensor::kParameters); }
  Result<std::string> copy() { return print(whole_, true); }
  // Reads what the op will add up over ranks. Called by the thread of its lane.
  Result<void> before(std::int32_t op, Device& device) override;
  // Loss and norms of the step that was watched. No op may be running.
  Result<void> read_step(RankState& state);

 private:
  // Values and the op that is the first to add them up over data-parallel ranks.
  struct Watched {
    std::int32_t op = -1;
    const std::byte* address = nullptr;
    std::int64_t count = 0;
    DataType type = DataType::kF32;
    double squares = 0;
  };
  Result<std::string> print(std::uint64_t of, bool whole);
  void watch_gradients();
  void watch_loss();

  const Setup& setup_;
  const Program& program_;
  const RankProgram& rank_;
  const Arena& arena_;
  Device& device_;
  const HeldParameters held_;
  const std::vector<OwnedRun> runs_;
  std::uint64_t owned_ = 0, whole_ = 0;
  std::vector<Watched> gradients_;  // by op, ascending
  std::int64_t watched_elements_ = 0;
  // Elements of kGradients that no rank shares: their values at the end of the step are the rank's.
  std::vector<Watched> unshared_;
  std::int32_t loss_op_ = -1;  // -1: no op adds up losses
  std::optional<double> loss_sum_;
};

}  // namespace parallelarium
