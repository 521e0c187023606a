// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/teaching/defence.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <filesystem>

#include "app/export/export.h"
#include "app/lesson/map/cheat_sheet.h"
#include "app/lesson/player/answers/figures_table.h"
#include "app/lesson/player/lesson_player.h"
#include "app/lesson/teaching/handout.h"
#include "app/look/busy_note.h"
#include "app/look/figures.h"
#include "app/look/saved_files.h"
#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "engine/lesson/play.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

namespace {

constexpr double kDefencePt = 9;
constexpr int kDefencePadding = 2;
constexpr int kReasonLines = 6;  // for each row that the teacher marks
const QString kRuledLine = QStringLiteral("\u00a0\n\n---\n\n");

std::string filled_number(double value, std::string_view unit) {
  return value_text(value, unit).toStdString();
}

// Writes the parts of one hand-in.
class DefenceWriter {
 public:
  DefenceWriter(const Lesson& lesson, const HandIn& hand_in)
      : lesson_(lesson),
        hand_in_(hand_in),
        text_(lesson.text(LessonPlayer::language())),
        drawn_(draw(lesson, hand_in.seed)) {}

  Result<QString> write() {
    QString page = QStringLiteral("# %1\n\n").arg(QString::fromStdString(text_.title));
    page +=
        Defence::tr("Name: %1 · numbers: %2 · %3 minutes")
            .arg(hand_in_.name.empty() ? QString(24, u'_') : QString::fromStdString(hand_in_.name))
            .arg(hand_in_.seed)
            .arg(hand_in_.minutes) +
        QStringLiteral("\n\n");
    for (const Step& step : lesson_.steps) page += section(step);
    page += rubric();
    if (fault_) return *fault_;
    return page;
  }

 private:
  QString section(const Step& step) {
    const HandInStep* given = answer_to(step.id);
    const bool first = &step == &lesson_.steps.front();
    if (!first && (step.kind == StepKind::kRead || given == nullptr)) return {};
    QString part = QStringLiteral("## %1\n\n").arg(QString::fromStdString(words(step).title));
    // What was not reached yet is not told on paper either.
    if (given != nullptr && !given->answered && step.kind != StepKind::kRead)
      return part + Defence::tr("Not answered.") + QStringLiteral("\n\n");
    if (first || (!step.sets_plan() && step.kind != StepKind::kRun))
      part += task_of(step) + QStringLiteral("\n\n");
    if (step.kind == StepKind::kRead || given == nullptr) return part;
    if (given->set) part += settings(step, given->set->setup);
    if (!given->parts.empty()) part += figures(step, *given);
    if (!given->checks.empty()) part += conditions(*given);
    if (given->run) part += run(*given->run);
    return part;
  }

  // The body but its last paragraph, which says what to do, or its first two, of a text to read.
  QString task_of(const Step& step) {
    QStringList paragraphs = filled(words(step).body).split(QStringLiteral("\n\n"));
    if (step.kind == StepKind::kRead)
      paragraphs = paragraphs.mid(0, 2);
    else if (paragraphs.size() > 1 && step.kind != StepKind::kGoal)
      paragraphs.removeLast();
    return paragraphs.join(QStringLiteral("\n\n"));
  }

  QString settings(const Step& step, const Setup& setup) {
    QStringList all;
    for (const std::string& key : step.allow)
      if (const SetupSetting* row = find_setting(setup_settings(), key))
        all << QStringLiteral("%1 **%2**")
                   .arg(setting_words(row->label), value_words(*row, text_of(setup, *row)));
    return all.join(QStringLiteral(" · ")) + QStringLiteral("\n\n");
  }

  static QString value_words(const SetupSetting& row, const std::string& value) {
    for (const Caption& caption : row.captions)
      if (caption.value == value) return setting_words(caption.text);
    return QString::fromStdString(value);
  }

  QString figures(const Step& step, const HandInStep& given) {
    return figures_table(step, given.parts,
                         [&](const std::string& part) { return filled(words(step).part(part)); }) +
           QLatin1Char('\n');
  }

  QString conditions(const HandInStep& given) {
    QStringList all;
    for (const CheckOutcome& outcome : given.checks)
      all << mark_of(outcome.holds) + QChar(0x00a0) + condition_words(outcome);
    return all.join(QStringLiteral(" · ")) + QStringLiteral("\n\n");
  }

  // As the window calls it: "rehearsed" for "paced".
  static QString source_words(const std::string& name) {
    for (const Source source :
         {Source::kMeasured, Source::kOversubscribed, Source::kPaced, Source::kSharedGpu})
      if (name_of(source) == name) return source_text(source);
    return QString::fromStdString(name);
  }

  static QString model_words(const Model& model) {
    return model.name == "custom"
               ? Defence::tr("a model of %1 layers, %2 wide").arg(model.layers).arg(model.hidden)
               : QString::fromStdString(model.name);
  }

  static QString run(const HandInRun& run) {
    const Mesh& mesh = run.setup.mesh;
    return Defence::tr(
               "Run (%1): DP %2, TP %3, PP %4 with %5, %6 training steps, %7 sent by all "
               "ranks, last loss %8.")
               .arg(source_words(run.source))
               .arg(mesh.dp)
               .arg(mesh.tp)
               .arg(mesh.pp)
               .arg(model_words(run.setup.model))
               .arg(run.losses.size())
               .arg(bytes_text(run.sent_bytes), number_text(run.losses.back())) +
           QStringLiteral("\n\n");
  }

  QString rubric() {
    QString table = table_head({Defence::tr("For"), Defence::tr("Points"), Defence::tr("of")});
    QString reasons;
    for (const HandInPoints& row : hand_in_.points) {
      const Step* step = lesson_.find(row.step);
      const QString what = filled(words(*step).part("rubric " + row.id));
      table += table_row({what, row.points ? number_text(*row.points) : QStringLiteral("____"),
                          QString::number(row.most)});
      if (row.points) continue;
      reasons += QStringLiteral("**%1**\n\n").arg(what);
      for (int line = 0; line < kReasonLines; ++line) reasons += kRuledLine;
    }
    const int engine = hand_in_.points_most(false), teacher = hand_in_.points_most(true);
    table += table_row(
        {Defence::tr("**Together**: the engine marks %1, the teacher %2").arg(engine).arg(teacher),
         Defence::tr("%1 + ____").arg(number_text(hand_in_.points_given())),
         QString::number(engine + teacher)});
    return QStringLiteral("## %1\n\n%2\n## %3\n\n%4")
        .arg(Defence::tr("Points"), table, Defence::tr("Reasons"), reasons);
  }

  const StepText& words(const Step& step) const { return text_.steps.at(step.id); }
  const HandInStep* answer_to(const std::string& id) const {
    const auto found = std::find_if(hand_in_.steps.begin(), hand_in_.steps.end(),
                                    [&](const HandInStep& one) { return one.step == id; });
    return found == hand_in_.steps.end() ? nullptr : &*found;
  }
  QString filled(const std::string& markdown) {
    Context context;
    context.drawn = drawn_;
    if (const Result<Settings> start = settings_at(lesson_, 0, drawn_)) context.settings = *start;
    const Result<std::string> text = fill_in(markdown, context.symbols(), filled_number);
    if (text) return QString::fromStdString(*text);
    if (!fault_) fault_ = text.error();
    return {};
  }

  const Lesson& lesson_;
  const HandIn& hand_in_;
  const LessonText& text_;
  const Symbols drawn_;
  std::optional<Message> fault_;
};

}  // namespace

Result<Defence> Defence::of(const Lesson& lesson, const HandIn& hand_in) {
  if (hand_in.points.empty())
    return message("defence-none", "The lesson \"{}\" is not marked by points.", lesson.id);
  Result<QString> markdown = DefenceWriter(lesson, hand_in).write();
  if (!markdown) return markdown.error();
  Defence defence;
  defence.title_ = QString::fromStdString(lesson.text(LessonPlayer::language()).title);
  defence.markdown_ = std::move(*markdown);
  return defence;
}

Result<void> Defence::save(const QString& path) const {
  if (QFileInfo(path).suffix().toLower() != QLatin1String("pdf"))
    return message("defence-ending", "The file {} must end in .pdf.", path.toStdString());
  QTextDocument document;
  QFont font = document.defaultFont();
  font.setPointSizeF(kDefencePt);
  document.setDefaultFont(font);
  document.setMarkdown(markdown_);
  document.setMetaInformation(QTextDocument::DocumentTitle, title_);
  style_paper_tables(document, kDefencePadding);
  // Evidence on the first page, points and reasons on the second.
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() != 2 || block.text() != tr("Points")) continue;
    QTextBlockFormat format = block.blockFormat();
    format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
    QTextCursor(block).setBlockFormat(format);
  }
  return write_bytes(path, paper_pdf(document, title_));
}

namespace {

nlohmann::json answers_now(const LessonPlayer& player) {
  if (const auto* finished = player.finished_lesson()) return finished->answers;
  return player.is_open() ? player.answers() : nlohmann::json();
}

bool has_rubric(const Lesson& lesson) {
  return std::any_of(lesson.steps.begin(), lesson.steps.end(),
                     [](const Step& step) { return !step.rubric.empty(); });
}

}  // namespace

bool has_defence(const LessonPlayer& player) {
  if (player.is_open()) return has_rubric(player.lesson());
  const auto* finished = player.finished_lesson();
  if (!finished) return false;
  const Result<Lesson> lesson = read_lesson(finished->folder.toStdString());
  return lesson && has_rubric(*lesson);
}

QString printing_refusal(const LessonPlayer& player) {
  if (!player.is_open()) return {};
  const std::vector<Step>& steps = player.lesson().steps;
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (steps[step].sets_plan() && !player.state(step).committed)
      return Defence::tr(
          "Commit your plan first: paper would tell what the lesson still asks for.");
  return {};
}

QString ask_for_defence(const LessonPlayer& player, QWidget* parent) {
  nlohmann::json answers = answers_now(player);
  if (answers.is_null()) return {};
  const auto& place = player.progress().place();
  answers["format"] = "parallelarium-answers/1";
  answers["name"] = place ? place->name : "";
  const QString id = QString::fromStdString(answers["lesson"].get<std::string>());
  const QString path = QFileDialog::getSaveFileName(parent, Defence::tr("Export the plan"),
                                                    in_documents(id + QStringLiteral(".pdf")),
                                                    Defence::tr("PDF files (*.pdf)"));
  if (path.isEmpty()) return {};
  const auto fail = [&](const Message& why) {
    QMessageBox::warning(parent, Defence::tr("Export the plan"), sentence(why));
    return QString();
  };
  const auto* finished = player.finished_lesson();
  const Result<Lesson> lesson =
      read_lesson(finished ? finished->folder.toStdString() : player.lesson().folder);
  if (!lesson) return fail(lesson.error());
  const auto written = [&] {
    const BusyNote busy(parent, Defence::tr("Your answers are judged anew …"));
    const HandIn hand_in = hand_in_of_text(
        answers.dump(), std::filesystem::path(lesson->folder).parent_path().string(),
        player.computer());
    return Defence::of(*lesson, hand_in);
  };
  const Result<Defence> defence = written();
  if (!defence) return fail(defence.error());
  const Result<void> saved = defence->save(path);
  return saved ? path : fail(saved.error());
}

}  // namespace parallelarium
