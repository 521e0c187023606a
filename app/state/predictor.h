// SPDX-License-Identifier: GPL-3.0-or-later
// Predicts Setups: small ones at once, large ones on a separate thread.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <memory>
#include <optional>

#include "engine/predict/predict.h"

namespace parallelarium {

struct Predicted {
  Result<std::shared_ptr<const Prediction>> prediction;
  double rehearsal_seconds = 0;  // time by the clock if ranks would rehearse
};

class Predictor : public QObject {
  Q_OBJECT

 public:
  explicit Predictor(QObject* parent = nullptr);
  ~Predictor() override;

  // If the prediction takes less than a frame, predicted() comes before this returns; otherwise it
  // comes from the event loop. Of several waiting Setups only the latest is predicted. `here`: the
  // cores of this computer. `setup` must be resolved and valid.
  void predict(const Setup& setup, const Machine& machine, const Machine& here);
  // Gives up the prediction that is under way: predicted() does not come.
  void forget();
  bool busy() const { return working_ || wanted_; }
  // Waits until nothing is being predicted any more (for exports and tests).
  void wait();

 Q_SIGNALS:
  void predicted(const Predicted& answer);

 private:
  struct Wanted {
    Setup setup;
    Machine machine, here;
  };
  void start_worker();
  std::optional<Wanted> wanted_;
  bool working_ = false, useless_ = false;
  double seconds_per_op_ = 1e-6;  // learned from the predictions made so far
  QThreadPool worker_;            // one thread
};

}  // namespace parallelarium
