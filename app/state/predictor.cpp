// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/predictor.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <memory>

#include "engine/passes/build.h"
#include "engine/plan/placement/resolve.h"
#include "engine/predict/rehearsal.h"

namespace parallelarium {

namespace {

constexpr double kFrameBudgetSeconds = 0.012;  // of 16 ms, the rest is for painting

// How many ops a Setup's Program has, roughly: only to decide whether to predict at once.
double estimated_ops(const Setup& setup) {
  const double built = setup.mesh.ranks() <= kMostBuiltRanks ? setup.mesh.ranks() : setup.mesh.pp;
  const double layers = std::max(1.0, double(setup.model.layers) / std::max(1, setup.mesh.pp));
  const double pieces = built * layers * setup.microbatches * 24;
  return pieces <= double(kMostPieceOps) ? pieces : built * setup.microbatches * 6.0;
}

Predicted predicted_of(const Setup& setup, const Machine& machine, const Machine& here) {
  Result<Prediction> made = predict(setup, machine);
  if (!made) return {made.error(), 0};
  double seconds = 0;
  if (expected_source(setup, machine) == Source::kPaced && can_execute(setup))
    seconds = clock_seconds_of(*made, stretch_of(*made, here));
  return {std::make_shared<const Prediction>(std::move(*made)), seconds};
}

}  // namespace

Predictor::Predictor(QObject* parent) : QObject(parent) { worker_.setMaxThreadCount(1); }

Predictor::~Predictor() { worker_.waitForDone(); }

void Predictor::predict(const Setup& setup, const Machine& machine, const Machine& here) {
  useless_ = false;
  const double ops = estimated_ops(setup);
  if (working_ || ops * seconds_per_op_ > kFrameBudgetSeconds) {
    wanted_ = {setup, machine, here};
    return start_worker();
  }
  QElapsedTimer timer;
  timer.start();
  const Predicted answer = predicted_of(setup, machine, here);
  const double measured = double(timer.nsecsElapsed()) / 1e9 / ops;
  seconds_per_op_ = 0.5 * (seconds_per_op_ + measured);
  Q_EMIT predicted(answer);
}

void Predictor::forget() {
  wanted_.reset();
  useless_ = working_;
}

void Predictor::start_worker() {
  if (working_ || !wanted_) return;
  working_ = true;
  const auto wanted = std::make_shared<const Wanted>(std::move(*wanted_));
  wanted_.reset();
  worker_.start([this, wanted] {
    const auto answer = std::make_shared<const Predicted>(
        predicted_of(wanted->setup, wanted->machine, wanted->here));
    QMetaObject::invokeMethod(
        this,
        [this, answer] {
          working_ = false;
          if (wanted_)  // a newer one waits: this one is of no use any more
            start_worker();
          else if (!useless_)
            Q_EMIT predicted(*answer);
        },
        Qt::QueuedConnection);
  });
}

void Predictor::wait() {
  while (busy()) {
    worker_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace parallelarium
