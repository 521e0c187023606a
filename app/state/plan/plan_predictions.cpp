// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/plan/plan_predictions.h"

#include <QCoreApplication>
#include <algorithm>

namespace parallelarium {

namespace {

constexpr std::size_t kMostKept = 6;

}  // namespace

PlanPredictions::PlanPredictions(QObject* parent) : QObject(parent) {
  worker_.setMaxThreadCount(1);
}

PlanPredictions::~PlanPredictions() { worker_.waitForDone(); }

std::shared_ptr<const Prediction> PlanPredictions::of(const Setup& setup, const Machine& machine) {
  const double share = machine.usable_memory_share;
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
    return kept->setup == setup && kept->usable_memory_share == share;
  });
  if (found != kept_.end()) return (*found)->prediction;
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  const auto kept = kept_.emplace_back(std::make_shared<Kept>(Kept{setup, share, nullptr}));
  ++under_way_;
  worker_.start([this, kept, machine] {
    auto answer = std::make_shared<Result<Prediction>>(predict(kept->setup, machine));
    QMetaObject::invokeMethod(
        this,
        [this, kept, answer] {
          --under_way_;
          if (*answer) kept->prediction = std::make_shared<const Prediction>(std::move(**answer));
          Q_EMIT made();
        },
        Qt::QueuedConnection);
  });
  return nullptr;
}

void PlanPredictions::wait() {
  while (busy()) {
    worker_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

void PlanPredictions::clear() { kept_.clear(); }

}  // namespace parallelarium
