// SPDX-License-Identifier: Apache-2.0
// In a rehearsal, ranks are real and durations are set. Every op and message takes its predicted
// time on the Setup's Machine times one factor, the stretch, which is constant over the run. So a
// laptop acts out any Machine, with more ranks than it has cores. Order, messages, waiting, bytes,
// memory and losses are observed; only how long an op takes is not. All times shown are the
// Machine's: those of the clock divided by the stretch.
//
// The stretch follows from what the ranks really do. It is found from the prediction before the
// run, and again from the run's second step.
#pragma once

#include <vector>

namespace parallelarium {

// The most of the cores, or of a compute lane's one core, that the real work may fill, sleeps
// included.
inline constexpr double kMostRehearsedLoad = 0.35;
// The most of compute time that may be spent in ops whose real work takes longer than it should.
inline constexpr double kMostOverrun = 0.01;
// Processor time to go to sleep until an op's end, and to wake up.
inline constexpr double kSleepSeconds = 10e-6;

// One op of a compute lane.
struct OpWork {
  double seconds = 0;  // on the Machine
  double work = 0;     // processor time that it takes here
};

// What one rank does in a step.
struct RankWork {
  std::vector<OpWork> ops;  // of its compute lane
  double work = 0;          // processor time of all its lanes, with a sleep for every op
};

// The least stretch, not rounded, with which the ranks keep to both bounds on `cores` cores, at
// least one. `step`: seconds of the step on the Machine.
double least_stretch(const std::vector<RankWork>& ranks, double step, int cores);
// The least stretch with which these ops keep to kMostOverrun; 0: they take no time.
double stretch_without_overruns(std::vector<OpWork> ops);
// The stretch that a run takes: a tenth more than `least`, since work varies, rounded up to two
// digits. It is at least `wished`, the Setup's.
double chosen_stretch(double least, double wished);

}  // namespace parallelarium
