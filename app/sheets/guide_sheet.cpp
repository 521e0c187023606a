// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/guide_sheet.h"

#include <QFileInfo>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include "engine/lesson/lesson.h"

namespace parallelarium {

GuideSheet::GuideSheet(QWidget* parent) : Sheet(parent) {
  setWindowTitle(tr("For teachers"));
  resize(760, 640);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 4, 12);
  auto* text = new QTextBrowser(this);
  text->setFrameShape(QFrame::NoFrame);
  text->setAccessibleName(windowTitle());
  text->setOpenExternalLinks(true);
  column->addWidget(text);
  const QFileInfo guide(QString::fromStdString(lessons_folder()) + QStringLiteral("/TEACHING.md"));
  if (guide.isReadable())
    text->setSource(QUrl::fromLocalFile(guide.filePath()));
  else
    text->setPlainText(tr("The guide TEACHING.md is not beside the lessons."));
}

}  // namespace parallelarium
