// SPDX-License-Identifier: GPL-3.0-or-later
// The index of the course, a dialog of the map: its concepts with the steps that introduce them,
// and the sources that it cites with the lessons that use them. Typing narrows both; the name of a
// lesson is a link that opens it.
#pragma once

#include "app/lesson/index/index_data.h"
#include "app/sheets/sheet.h"

class QLabel;
class QLineEdit;
class QTabWidget;
class QTextBrowser;
class QUrl;

namespace parallelarium {

class CourseIndexSheet : public Sheet {
  Q_OBJECT

 public:
  explicit CourseIndexSheet(QWidget* parent = nullptr);
  const CourseIndex& index() const { return index_; }

 Q_SIGNALS:
  // By the id of the course. The sheet closes.
  void lesson_wanted(const QString& id);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QTextBrowser* add_page(const QString& title);
  void show_found();
  void follow(const QUrl& link);
  QString concepts_html(const QStringList& parts, int& found) const;
  QString sources_html(const QStringList& parts, int& found) const;

  const CourseIndex index_;
  QLineEdit* search_ = nullptr;
  QLabel* found_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  QTextBrowser *concepts_ = nullptr, *sources_ = nullptr;
};

}  // namespace parallelarium
