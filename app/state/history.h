// SPDX-License-Identifier: GPL-3.0-or-later
// The Setup as the user asked for it, and its undo steps.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Changes of one setting within this time are one step of undo
inline constexpr int kMergeMs = 1000;

class History : public QObject {
  Q_OBJECT

 public:
  explicit History(QObject* parent = nullptr);
  ~History() override;

  // The present Setup. It may be invalid, and precision, attention and backend may be `auto`.
  const Setup& setup() const { return setup_; }
  // Changes the Setup as one undo step named `what`. Changes of the same fields within a second
  // merge into one step.
  void change(const Setup& setup, const QString& what);
  // Replaces the Setup without an undo step and without a signal.
  void replace(const Setup& setup) { setup_ = setup; }
  // The same, with new_setup() as the base.
  void restart(const Setup& setup);
  QUndoStack& stack() { return stack_; }

  // The Setup that settings are compared with and reset to: new_setup(), or the one with which the
  // open lesson started.
  const Setup& base() const { return base_; }
  void set_base(const Setup& base);

 Q_SIGNALS:
  void changed();  // also on undo and redo
  void base_changed();

 private:
  friend class SetupCommand;
  void apply(const Setup& setup);
  Setup setup_, base_;
  QUndoStack stack_;
};

}  // namespace parallelarium
