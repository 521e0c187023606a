// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/index/course_index.h"

#include <QAccessible>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTabWidget>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"
#include "app/settings/controls.h"

namespace parallelarium {

namespace {

constexpr const char* kLessonLink = "lesson";

QString link_to(const IndexPlace& place) {
  QString name = place.title;
  if (!place.step.isEmpty()) name += QStringLiteral(" › ") + place.step;
  return QStringLiteral("<a href=\"%1:%2\">%3</a>")
      .arg(QLatin1String(kLessonLink), place.lesson, name.toHtmlEscaped());
}

QString links_to(const std::vector<IndexPlace>& places) {
  QStringList links;
  for (const IndexPlace& place : places) links << link_to(place);
  return links.join(QStringLiteral(" · "));
}

// Whether a text has every part, in any case.
bool has_all(const QString& text, const QStringList& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const QString& part) { return text.contains(part, Qt::CaseInsensitive); });
}

QString paragraph(const QStringList& lines) {
  return QStringLiteral("<p>") + lines.join(QStringLiteral("<br>")) + QStringLiteral("</p>");
}

QString names_of(const std::vector<IndexPlace>& places) {
  QString names;
  for (const IndexPlace& place : places)
    names += QLatin1Char('\n') + place.title + QLatin1Char('\n') + place.step;
  return names;
}

}  // namespace

CourseIndexSheet::CourseIndexSheet(QWidget* parent) : Sheet(parent), index_(read_course_index()) {
  setWindowTitle(tr("Index and sources"));
  resize(680, 560);
  auto* column = new QVBoxLayout(this);
  search_ = new QLineEdit;
  search_->setPlaceholderText(tr("Search concepts, sources and lessons"));
  search_->setAccessibleName(tr("Search"));
  search_->setClearButtonEnabled(true);
  column->addWidget(search_);
  tabs_ = new QTabWidget;
  concepts_ = add_page(tr("Concepts"));
  sources_ = add_page(tr("Sources"));
  column->addWidget(tabs_, 1);
  found_ = new QLabel(index_.error);
  found_->setWordWrap(true);
  set_style_property(found_, "role", "muted");
  column->addWidget(found_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(search_, &QLineEdit::textChanged, this, &CourseIndexSheet::show_found);
  show_found();
  search_->setFocus();
}

QTextBrowser* CourseIndexSheet::add_page(const QString& title) {
  auto* page = new QTextBrowser;
  page->setFrameShape(QFrame::NoFrame);
  page->setOpenLinks(false);
  ring_focus(*page);
  page->setAccessibleName(title);
  page->document()->setDocumentMargin(12);
  connect(page, &QTextBrowser::anchorClicked, this, &CourseIndexSheet::follow);
  tabs_->addTab(page, title);
  return page;
}

QString CourseIndexSheet::concepts_html(const QStringList& parts, int& found) const {
  QString html;
  for (const IndexConcept& one : index_.concepts) {
    if (!has_all(one.word + QLatin1Char('\n') + one.meaning + names_of(one.places), parts))
      continue;
    ++found;
    QStringList lines{QStringLiteral("<b>%1</b>").arg(one.word.toHtmlEscaped()),
                      one.meaning.toHtmlEscaped()};
    if (!one.places.empty()) lines << links_to(one.places);
    html += paragraph(lines);
  }
  return html;
}

QString CourseIndexSheet::sources_html(const QStringList& parts, int& found) const {
  QString html;
  for (const IndexSource& one : index_.sources) {
    const CitedSource& source = one.source;
    const QString authors = source.year > 0
                                ? QStringLiteral("%1 %2").arg(source.authors).arg(source.year)
                                : source.authors;
    if (!has_all(authors + QLatin1Char('\n') + source.title + QLatin1Char('\n') + source.venue +
                     QLatin1Char('\n') + source.known_by.join(QLatin1Char('\n')) +
                     QLatin1Char('\n') + one.words.join(QLatin1Char('\n')) + names_of(one.lessons),
                 parts))
      continue;
    ++found;
    QString where = source.venue.toHtmlEscaped();
    if (!source.url.isEmpty()) {
      QString shown = source.url;
      shown.remove(QStringLiteral("https://"));
      if (!where.isEmpty()) where += QStringLiteral(" · ");
      where += QStringLiteral("<a href=\"%1\">%2</a>")
                   .arg(source.url.toHtmlEscaped(), shown.toHtmlEscaped());
    }
    QStringList lines{QStringLiteral("<b>%1</b>").arg(authors.toHtmlEscaped()),
                      source.title.toHtmlEscaped()};
    if (!where.isEmpty()) lines << where;
    if (!one.lessons.empty()) lines << tr("Lessons: %1").arg(links_to(one.lessons));
    if (!one.words.isEmpty())
      lines << tr("Words: %1").arg(one.words.join(QStringLiteral(" · ")).toHtmlEscaped());
    QStringList others;
    if (source.formulas) others << tr("formulas of this window");
    if (one.cases == 1) others << tr("one table of published runs");
    if (one.cases > 1) others << tr("%1 tables of published runs").arg(one.cases);
    if (!others.isEmpty()) lines << tr("Also: %1").arg(others.join(QStringLiteral(" · ")));
    html += paragraph(lines);
  }
  return html;
}

// Entries that have every part of what is typed.
void CourseIndexSheet::show_found() {
  if (!index_.error.isEmpty()) return;
  const Theme& theme = theme_for(palette());
  const QString style = QStringLiteral("p { margin-top: 0; margin-bottom: 12px; } a { color: %1; }")
                            .arg(theme.accent_line.name());
  const QStringList parts = search_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  int concepts = 0, sources = 0;
  for (QTextBrowser* page : {concepts_, sources_}) {
    page->document()->setDefaultFont(theme.font(13));
    page->document()->setDefaultStyleSheet(style);
  }
  concepts_->setHtml(concepts_html(parts, concepts));
  sources_->setHtml(sources_html(parts, sources));
  found_->setText(tr("Concepts: %1 · Sources: %2").arg(concepts).arg(sources));
  QAccessibleEvent event(found_, QAccessible::NameChanged);
  QAccessible::updateAccessibility(&event);
}

void CourseIndexSheet::follow(const QUrl& link) {
  if (link.scheme() == QLatin1String("https")) {
    QDesktopServices::openUrl(link);
    return;
  }
  if (link.scheme() != QLatin1String(kLessonLink)) return;
  Q_EMIT lesson_wanted(link.path());
  accept();
}

void CourseIndexSheet::changeEvent(QEvent* event) {
  Sheet::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && sources_) show_found();
}

}  // namespace parallelarium
