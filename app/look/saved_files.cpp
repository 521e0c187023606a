// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/saved_files.h"

#include <QDir>
#include <QStandardPaths>

namespace parallelarium {

QString in_documents(const QString& name) {
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  const bool there = !documents.isEmpty() && QDir(documents).exists();
  return QDir(there ? documents : QDir::homePath()).filePath(name);
}

}  // namespace parallelarium
