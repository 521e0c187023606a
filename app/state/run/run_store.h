// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that were made, which of them belongs to what is set, and what is pinned.
#pragma once

#include <QObject>
#include <optional>
#include <span>
#include <vector>

#include "app/state/run/run_record.h"

namespace parallelarium {

class RunStore : public QObject {
  Q_OBJECT

 public:
  explicit RunStore(QObject* parent = nullptr) : QObject(parent) {}

  const std::vector<RunRecord>& all() const { return runs_; }  // as a document keeps, oldest first
  std::span<const RunRecord> shown() const;                    // those not aside, oldest first
  // Replaces a run of the same Setup; the oldest goes where there are too many.
  void keep(RunRecord run);
  // What a lesson that starts does not want to see: keeps the runs made so far out of every view
  // (a document still keeps them) and takes the pin away. False: they are back.
  void set_earlier_aside(bool aside);

  // From now on `resolved`, whose `auto` is decided, is what is set. Tells nobody.
  void match(const Setup& resolved) { wanted_ = resolved; }
  // The latest shown run of this Setup, whose `auto` is decided, or null.
  const RunRecord* run_of(const Setup& resolved) const;
  // The shown run of what is set, else the latest, if any. That one is stale: no view draws it,
  // and no difference is computed.
  const RunRecord* current() const;
  bool current_is_stale() const;

  // Pinned: an earlier prediction (observed() is false) or run, drawn as a third, outlined lane.
  const RunRecord* pinned() const { return pinned_ ? &*pinned_ : nullptr; }
  void pin(RunRecord record);
  void unpin();

  // Starts afresh with what a document holds. Tells nobody.
  void restore(std::vector<RunRecord> runs, std::optional<RunRecord> pinned);

 Q_SIGNALS:
  void changed();  // all(), shown(), pinned()

 private:
  void forget(std::size_t run);
  std::vector<RunRecord> runs_;
  std::size_t earlier_ = 0;  // how many of the oldest are aside
  std::optional<RunRecord> pinned_;
  Setup wanted_;
};

}  // namespace parallelarium
