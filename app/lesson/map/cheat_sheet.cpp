// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/cheat_sheet.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QPdfWriter>
#include <QPushButton>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>
#include <QVBoxLayout>
#include <cmath>

#include "app/export/export.h"
#include "app/lesson/markdown_view.h"
#include "app/lesson/player/json_member.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/figures.h"
#include "app/look/saved_files.h"
#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "engine/lesson/play.h"

namespace parallelarium {

namespace {

constexpr int kColumns = 2, kPages = 2, kMarginMm = 9, kGapMm = 6;
constexpr double kListIndent = 14, kCell = 2;  // at 96 dots per inch; Qt scales them
constexpr double kLetters[] = {9.5, 9, 8.5, 8, 7.5, 7, 6.5, 6, 5.7};  // points, the smallest last

// "Two names: 27.3 % rehearsed here", for each prediction that a run answered.
QString seen_here(const Lesson& lesson, const LessonText& text, const nlohmann::json& record) {
  QStringList lines;
  for (const nlohmann::json& step : member_or(record, "steps", nlohmann::json::array())) {
    if (!step.contains("observed") || !step["observed"].is_number() || !step.contains("run"))
      continue;
    const Step* question = lesson.find(member_or(step, "answers", std::string()));
    if (!question || !question->ask) continue;
    const auto words = text.steps.find(question->id);
    if (words == text.steps.end()) continue;
    QString title = QString::fromStdString(words->second.title);
    if (!title.endsWith(QLatin1Char('?'))) title += QLatin1Char(':');
    lines << CheatSheet::tr("%1 **%2** on this computer")
                 .arg(title, value_text(step["observed"].get<double>(), question->ask->unit));
  }
  return lines.join(QStringLiteral("  \n"));
}

// Where to read on stands in the lesson.
QString without_sources(const QString& markdown) {
  QStringList kept;
  for (const QString& paragraph : markdown.split(QStringLiteral("\n\n")))
    if (!paragraph.contains(QLatin1String("](https://"))) kept << paragraph;
  return kept.join(QStringLiteral("\n\n"));
}

}  // namespace

std::vector<TakeAway> take_aways(const LessonProgress& progress) {
  std::vector<TakeAway> all;
  const Result<Course> course = read_course(lessons_folder());
  if (!course) return all;
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(course->folder + "/" + entry.id);
    if (!lesson || !progress.done(lesson->id, lesson->version)) continue;
    const nlohmann::json record = progress.record(lesson->id, lesson->version);
    if (!record.is_object() || !record.contains("seed") || !record["seed"].is_number_unsigned())
      continue;
    const LessonText& text = lesson->text(LessonPlayer::language());
    const std::size_t last = lesson->steps.size() - 1;
    const auto words = text.steps.find(lesson->steps[last].id);
    if (lesson->steps[last].kind != StepKind::kRead || words == text.steps.end()) continue;
    Context context;
    context.drawn = draw(*lesson, record["seed"].get<std::uint64_t>());
    const Result<Settings> settings = settings_at(*lesson, last, context.drawn);
    if (!settings) continue;
    context.settings = *settings;
    const auto number = [](double value, std::string_view unit) {
      return value_text(value, unit).toStdString();
    };
    const Result<std::string> filled = fill_in(words->second.body, context.symbols(), number);
    QString markdown =
        filled ? without_sources(QString::fromStdString(*filled)) : sentence(filled.error());
    if (const QString seen = seen_here(*lesson, text, record); !seen.isEmpty())
      markdown += QStringLiteral("\n\n") + seen;
    all.push_back({QString::fromStdString(text.title), QString::fromStdString(lesson->folder),
                   std::move(markdown)});
  }
  return all;
}

void style_paper_tables(QTextDocument& document, double padding) {
  QTextCursor edit(&document);
  edit.beginEditBlock();
  for (QTextFrame* frame : document.rootFrame()->childFrames())
    if (auto* table = qobject_cast<QTextTable*>(frame)) {
      QTextTableFormat format = table->format();
      format.setBorder(0);
      format.setCellPadding(padding);
      format.setCellSpacing(0);
      format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
      table->setFormat(format);
    }
  edit.endEditBlock();
}

QByteArray take_aways_pdf(const std::vector<TakeAway>& all) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setTitle(CheatSheet::tr("Parallelarium: what to take away"));
  writer.setCreator(QStringLiteral("Parallelarium"));
  writer.setPageSize(QPageSize(QPageSize::A4));
  writer.setPageMargins(QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm),
                        QPageLayout::Millimeter);
  QString markdown;
  for (const TakeAway& one : all)
    markdown += QStringLiteral("**%1**\n\n%2\n\n").arg(one.title.toUpper(), one.markdown);
  QPainter painter(&writer);
  const double gap = kGapMm * writer.logicalDpiX() / 25.4;
  const QSizeF column((writer.width() - gap * (kColumns - 1)) / kColumns, writer.height());
  QTextDocument document;
  document.documentLayout()->setPaintDevice(&writer);
  document.setDocumentMargin(0);
  document.setIndentWidth(kListIndent);
  document.setPageSize(column);
  for (const double points : kLetters) {
    document.clear();  // an empty one is laid out at once for other letters
    QFont font = document.defaultFont();
    font.setPointSizeF(points);
    document.setDefaultFont(font);
    // In one edit, or all of it is laid out again with every paragraph.
    QTextCursor edit(&document);
    edit.beginEditBlock();
    document.setMarkdown(markdown);
    edit.endEditBlock();
    style_paper_tables(document, kCell);
    if (document.pageCount() <= kColumns * kPages) break;
  }
  for (int at = 0; at < document.pageCount(); ++at) {
    if (at > 0 && at % kColumns == 0) writer.newPage();
    painter.save();
    painter.translate((at % kColumns) * (column.width() + gap), -at * column.height());
    document.drawContents(&painter, QRectF(QPointF(0, at * column.height()), column));
    painter.restore();
  }
  painter.end();
  return bytes;
}

CheatSheet::CheatSheet(const LessonProgress& progress, QWidget* parent)
    : Sheet(parent), all_(take_aways(progress)) {
  setWindowTitle(tr("What to take away"));
  resize(620, 560);
  auto* column = new QVBoxLayout(this);
  QVBoxLayout* inner = add_scrolled_column(column);
  if (all_.empty()) {
    auto* none = new QLabel(
        tr("What a lesson leaves behind stands here as soon as you have come to its end."));
    none->setWordWrap(true);
    inner->addWidget(none);
  }
  for (const TakeAway& one : all_) {
    auto* title = new QLabel(one.title);
    set_style_property(title, "role", "strong");
    auto* text = new MarkdownView;
    text->setAccessibleName(one.title);
    text->set_markdown(one.markdown, one.folder);
    inner->addWidget(title);
    inner->addWidget(text);
    inner->addSpacing(8);
  }
  inner->addStretch();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  auto* save = buttons->addButton(tr("Save as PDF …"), QDialogButtonBox::ActionRole);
  save->setEnabled(!all_.empty());
  connect(save, &QPushButton::clicked, this, &CheatSheet::ask_and_save);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
}

Result<void> CheatSheet::save(const QString& path) const {
  return write_bytes(path, take_aways_pdf(all_));
}

void show_cheat_sheet(const LessonProgress& progress, QWidget* parent) {
  auto* sheet = new CheatSheet(progress, parent);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  sheet->show();
}

void CheatSheet::ask_and_save() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save as PDF …"),
                                                    in_documents(QStringLiteral("take-away.pdf")),
                                                    QStringLiteral("PDF (*.pdf)"));
  if (path.isEmpty()) return;
  if (const Result<void> saved = save(path); !saved)
    QMessageBox::warning(this, windowTitle(), sentence(saved.error()));
}

}  // namespace parallelarium
