// SPDX-License-Identifier: GPL-3.0-or-later
// Reads documents on its own thread, so that the window does not freeze while the runs of a large
// document are parsed and predicted.
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

  // was_read() comes from the event loop. If several are read, it comes only for the latest.
  void read(const QString& path);
  bool busy() const { return newest_ != told_; }
  // Waits until nothing is being read any more (for tests).
  void wait();

 Q_SIGNALS:
  // A listener may take the document.
  void was_read(const QString& path, const std::shared_ptr<Result<Document>>& document);

 private:
  int newest_ = 0, told_ = 0;  // number of the read
  QThreadPool worker_;         // one thread
};

}  // namespace parallelarium
