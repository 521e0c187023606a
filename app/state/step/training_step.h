// SPDX-License-Identifier: GPL-3.0-or-later
// The training step of the Setup, which is the topic of most views.
#pragma once

#include "app/state/topic.h"

namespace parallelarium {

// The next begin or end of a bar after (or before) `time`; `time` itself at the ends.
Nanoseconds next_event(const Session& session, Nanoseconds time, bool forward);

class TrainingStep : public Topic {
  Q_OBJECT

 public:
  // `session` must outlive it.
  explicit TrainingStep(Session& session);

  bool is_step() const override { return true; }
  std::optional<Message> problem() const override;
  std::vector<Remedy> remedies(const Message& problem) override;

  Nanoseconds playhead() const override;
  void set_playhead(Nanoseconds time) override;
  TimeRange played() const override;
  Nanoseconds next_event(Nanoseconds time, bool forward) const override;
  double telling_share() const override { return 0.66; }
  QString time_title() const override;
  QString time_text(const Session& session) const override;
  QString widest_time_text() const override;
  QString length_key() const override;

  int ranks() const override;
  QString proof_tip() const override;
  EngineRequest run_request(const Placement& placement, const RunSettings& asked) override;

  std::vector<Formula> formulas(const QString& quantity) const override;
  QString trace_title() const override;
  QString table_title() const override;
  Result<std::string> trace_text(const Session& session) const override;
  Result<std::string> table_text(const Session& session) const override;

 private:
  Session& session_;
};

}  // namespace parallelarium
