// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/run_store.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostRuns = 20;  // kept; older ones go first

// Whether a run is of what is set. On which backend, and how slow a rehearsal was, stands on it.
bool is_of(const RunRecord& run, Setup wanted) {
  const Setup& ran = run.observation.setup;
  wanted.run.backend = ran.run.backend;
  wanted.run.stretch = ran.run.stretch;
  return ran == wanted;
}

}  // namespace

std::span<const RunRecord> RunStore::shown() const { return std::span(runs_).subspan(earlier_); }

void RunStore::forget(std::size_t run) {
  runs_.erase(runs_.begin() + std::ptrdiff_t(run));
  if (run < earlier_) --earlier_;
}

void RunStore::keep(RunRecord run) {
  for (std::size_t old = runs_.size(); old-- > 0;)
    if (runs_[old].observation.setup == run.observation.setup) forget(old);
  if (runs_.size() == kMostRuns) forget(0);
  runs_.push_back(std::move(run));
  Q_EMIT changed();
}

void RunStore::set_earlier_aside(bool aside) {
  earlier_ = aside ? runs_.size() : 0;
  if (aside) pinned_.reset();
  Q_EMIT changed();
}

const RunRecord* RunStore::run_of(const Setup& resolved) const {
  const std::span<const RunRecord> runs = shown();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (is_of(*run, resolved)) return &*run;
  return nullptr;
}

const RunRecord* RunStore::current() const {
  if (const RunRecord* run = run_of(wanted_)) return run;
  return shown().empty() ? nullptr : &shown().back();
}

bool RunStore::current_is_stale() const {
  const RunRecord* run = current();
  return run && !is_of(*run, wanted_);
}

void RunStore::pin(RunRecord record) {
  pinned_ = std::move(record);
  Q_EMIT changed();
}

void RunStore::unpin() {
  pinned_.reset();
  Q_EMIT changed();
}

void RunStore::restore(std::vector<RunRecord> runs, std::optional<RunRecord> pinned) {
  if (runs.size() > kMostRuns) runs.erase(runs.begin(), runs.end() - kMostRuns);
  runs_ = std::move(runs);
  earlier_ = 0;
  pinned_ = std::move(pinned);
}

}  // namespace parallelarium
