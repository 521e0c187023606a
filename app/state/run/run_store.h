// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that were made, which of them belongs to the present Setup, and what is pinned.
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

  // Those that a document keeps, oldest first.
  const std::vector<RunRecord>& all() const { return runs_; }
  std::span<const RunRecord> shown() const;  // those that are not kept aside, oldest first
  // Keeps a run. It replaces a run of the same Setup. If there are too many, the oldest goes.
  void keep(RunRecord run);
  // Keeps the runs made so far out of every view and removes the pin, as a starting lesson needs; a
  // document still keeps the runs. False brings the runs back.
  void set_earlier_aside(bool aside);

  // Makes `resolved`, which has no `auto`, the present Setup. Sends no signal.
  void match(const Setup& resolved) { wanted_ = resolved; }
  // The latest shown run of this Setup, which has no `auto`, or null.
  const RunRecord* run_of(const Setup& resolved) const;
  // The shown run of the present Setup. If there is none, the latest run, which is then stale: no
  // view draws it, and no difference is computed. Null if there are no runs.
  const RunRecord* current() const;
  bool current_is_stale() const;

  // The pinned record: an earlier prediction (observed() is false) or run. It is drawn as a third,
  // outlined lane.
  const RunRecord* pinned() const { return pinned_ ? &*pinned_ : nullptr; }
  void pin(RunRecord record);
  void unpin();

  // Starts again with the contents of a document. Sends no signal.
  void restore(std::vector<RunRecord> runs, std::optional<RunRecord> pinned);

 Q_SIGNALS:
  void changed();  // all(), shown(), pinned()

 private:
  void forget(std::size_t run);
  std::vector<RunRecord> runs_;
  std::size_t earlier_ = 0;  // how many of the oldest are kept aside
  std::optional<RunRecord> pinned_;
  Setup wanted_;
};

}  // namespace parallelarium
