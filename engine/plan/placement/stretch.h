// SPDX-License-Identifier: Apache-2.0
// A rehearsal: ranks that are real, with durations that are set. Every op and message takes its
// predicted time on the Setup's Machine times one factor, the stretch, which is constant over the
// run. So a laptop acts out any Machine with more ranks than it has cores: order, messages,
// waiting, bytes, memory and losses are observed, and only how long an op takes is not. All times
// that anybody is told are the Machine's own, those of the clock divided by the stretch.
//
// The stretch follows from what the ranks really do: from the prediction before the run, and again
// from its second step.
#pragma once

#include <vector>

namespace parallelarium {

// Of the cores, or of a compute lane's one core: what the real work may fill, sleeps included.
inline constexpr double kMostRehearsedLoad = 0.35;
// Of compute time: what may be spent in ops whose real work takes longer than it should.
inline constexpr double kMostOverrun = 0.01;
// Processor time of going to sleep until an op's end, and of waking up.
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

// The least stretch, not rounded, at which the ranks keep to both bounds on so many cores. `step`:
// seconds of the step on the Machine. There must be a core or more.
double least_stretch(const std::vector<RankWork>& ranks, double step, int cores);
// The least at which these ops keep to kMostOverrun; 0: they take no time.
double stretch_without_overruns(std::vector<OpWork> ops);
// What a run takes for it: a tenth more, since work varies, rounded up to two digits; at least
// `wished`, the Setup's.
double chosen_stretch(double least, double wished);

}  // namespace parallelarium
