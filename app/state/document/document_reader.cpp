// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/document/document_reader.h"

#include <QCoreApplication>

namespace parallelarium {

DocumentReader::DocumentReader(QObject* parent) : QObject(parent) { worker_.setMaxThreadCount(1); }

DocumentReader::~DocumentReader() {
  worker_.clear();
  worker_.waitForDone();
}

void DocumentReader::read(const QString& path) {
  const int number = ++newest_;
  worker_.start([this, path, number] {
    const Result<nlohmann::json> json = read_document(path);
    auto document = std::make_shared<Result<Document>>(json ? document_from_json(*json)
                                                            : Result<Document>(json.error()));
    QMetaObject::invokeMethod(
        this,
        [this, path, number, document] {
          if (number != newest_) return;
          told_ = number;
          Q_EMIT was_read(path, document);
        },
        Qt::QueuedConnection);
  });
}

void DocumentReader::wait() {
  while (busy()) {
    worker_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace parallelarium
