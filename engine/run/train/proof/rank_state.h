// SPDX-License-Identifier: Apache-2.0
// Reads what RankState says out of the memory of one rank: fingerprints of its weights between
// steps, and its own loss and gradients in the midst of a step, before they are added up over
// ranks. It reads and never writes, so that a training is the same bit for bit.
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
// Which elements of the model the rank updates, or all that it holds if `whole`, neighbours in one
// run; what pads a vocabulary is none. Ranks with equal lists must hold equal bytes.
std::vector<OwnedRun> owned_runs(const Setup& setup, const RankProgram& rank,
                                 const HeldParameters& held, bool whole = false);

class RankStateReader : public OpProbe {
 public:
  // References outlive this object. `device`: the compute lane's.
  RankStateReader(const Setup& setup, const Program& program, const RankProgram& rank,
                  const Arena& arena, Device& device);

  // What owned_runs() says, in one number: of what it updates, and of all that it holds.
  std::uint64_t owned() const { return owned_; }
  std::uint64_t whole() const { return whole_; }
  // RankState::weights_before or weights_after, as it is now. No op may be running. Error: the
  // device's.
  Result<std::string> weights() { return print(owned_, false); }
  // RankState::copy_after, of which has_copy() says whether there is one. As weights().
  bool has_copy() const { return held_.keeps_all(Tensor::kParameters); }
  Result<std::string> copy() { return print(whole_, true); }
  // Reads what the op is about to add up over ranks. Called by the thread of its lane.
  Result<void> before(std::int32_t op, Device& device) override;
  // Loss and norms of the step that was watched. No op may be running.
  Result<void> read_step(RankState& state);

 private:
  // Values that an op, the first to do so, adds up over data parallel ranks.
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
  std::int32_t loss_op_ = -1;  // -1: nobody adds up losses
  std::optional<double> loss_sum_;
};

}  // namespace parallelarium
