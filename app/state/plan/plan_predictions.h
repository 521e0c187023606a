// SPDX-License-Identifier: GPL-3.0-or-later
// Predicts plans op by op for views that draw them, since a search gives sums alone. Each plan is
// predicted once, on a thread.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <memory>
#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

class PlanPredictions : public QObject {
  Q_OBJECT

 public:
  explicit PlanPredictions(QObject* parent = nullptr);
  ~PlanPredictions() override;

  // The prediction, or null while it is being made and if it cannot be made. made() tells when it
  // is there. `setup` must be resolved.
  std::shared_ptr<const Prediction> of(const Setup& setup, const Machine& machine);
  bool busy() const { return under_way_ > 0; }
  // Waits until nothing is being predicted any more (for exports and tests).
  void wait();
  void clear();  // call it when more of the Machine changes than the memory that may be used

 Q_SIGNALS:
  void made();

 private:
  struct Kept {
    Setup setup;
    double usable_memory_share;
    std::shared_ptr<const Prediction> prediction;
  };
  std::vector<std::shared_ptr<Kept>> kept_;  // the latest last
  int under_way_ = 0;
  QThreadPool worker_;  // one thread
};

}  // namespace parallelarium
