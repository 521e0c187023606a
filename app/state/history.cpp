// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/history.h"

#include <QElapsedTimer>
#include <QUndoCommand>
#include <functional>
#include <nlohmann/json.hpp>

namespace parallelarium {

namespace {

// The dotted keys in which two Setups differ, as one number: equal for two edits of the same field.
int difference_id(const nlohmann::json& before, const nlohmann::json& after) {
  std::string keys;
  for (const auto& change : nlohmann::json::diff(before, after))
    keys += change.at("path").get<std::string>() + '\n';
  return static_cast<int>(std::hash<std::string>{}(keys)&0x7fffffff);
}

}  // namespace

// One edit of the Setup.
class SetupCommand : public QUndoCommand {
 public:
  SetupCommand(History& history, const Setup& before, const Setup& after, const QString& what)
      : QUndoCommand(what),
        history_(history),
        before_(before),
        after_(after),
        // Each step of building an order can be taken back.
        id_(after.schedule.order() && after.schedule != before.schedule
                ? -1
                : difference_id(to_json(before), to_json(after))) {
    age_.start();
  }
  void undo() override { history_.apply(before_); }
  void redo() override { history_.apply(after_); }
  int id() const override { return id_; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const SetupCommand*>(other);  // ids are hashes
    if (!next || age_.elapsed() > kMergeMs) return false;
    age_.restart();
    after_ = next->after_;
    setText(next->text());
    setObsolete(after_ == before_);
    return true;
  }

 private:
  History& history_;
  Setup before_, after_;
  int id_;
  QElapsedTimer age_;
};

History::History(QObject* parent) : QObject(parent), setup_(new_setup()), base_(new_setup()) {}

History::~History() { stack_.disconnect(); }

void History::change(const Setup& setup, const QString& what) {
  if (setup == setup_) return;
  stack_.push(new SetupCommand(*this, setup_, setup, what));
}

void History::restart(const Setup& setup) {
  setup_ = setup;
  base_ = new_setup();
}

void History::set_base(const Setup& base) {
  if (base == base_) return;
  base_ = base;
  Q_EMIT base_changed();
}

void History::apply(const Setup& setup) {
  setup_ = setup;
  Q_EMIT changed();
}

}  // namespace parallelarium
