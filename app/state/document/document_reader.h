// SPDX-License-Identifier: GPL-3.0-or-later
// Reads documents on a thread of its own, so that the window does not freeze while the runs in a
// large one are parsed and predicted.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <memory>

#include "app/state/document/document.h"

namespace parallelarium {

class DocumentReader : public QObject {
  Q_OBJECT

 public:
  explicit DocumentReader(QObject* parent = nullptr);
  ~DocumentReader() override;

  // was_read() comes from the event loop, for the latest of several.
  void read(const QString& path);
  bool busy() const { return newest_ != told_; }
  // Returns when nothing is being read any more (for tests).
  void wait();

 Q_SIGNALS:
  // Who hears it may take the document.
  void was_read(const QString& path, const std::shared_ptr<Result<Document>>& document);

 private:
  int newest_ = 0, told_ = 0;  // number of the read
  QThreadPool worker_;         // one thread
};

}  // namespace parallelarium
