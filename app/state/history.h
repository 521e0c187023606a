// SPDX-License-Identifier: GPL-3.0-or-later
// The Setup as it was asked for, and its way back.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

inline constexpr int kMergeMs = 1000;  // changes of one setting within it are one step of undo

class History : public QObject {
  Q_OBJECT

 public:
  explicit History(QObject* parent = nullptr);
  ~History() override;

  // Precision, attention and backend may be `auto`; it may be invalid.
  const Setup& setup() const { return setup_; }
  // As one undo step named `what`. Repeats of the same fields within a second merge into one step.
  void change(const Setup& setup, const QString& what);
  // Without a step; tells nobody.
  void replace(const Setup& setup) { setup_ = setup; }
  // The same with new_setup() as its base.
  void restart(const Setup& setup);
  QUndoStack& stack() { return stack_; }

  // What settings count as changed from and are reset to: new_setup(), or the Setup that the open
  // lesson started with.
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
