// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/teaching/handout.h"

#include <QBuffer>
#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QImageReader>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QTextDocument>
#include <QUrl>
#include <algorithm>

#include "app/export/export.h"
#include "app/lesson/map/cheat_sheet.h"
#include "app/lesson/player/answers/guess_text.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/figures.h"
#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/play.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

namespace {

constexpr double kLetterPt = 10;
constexpr int kPictureWidth = 480;  // logical pixels
constexpr int kSharpness = 2;       // pixels for each
constexpr int kCellPadding = 4;
constexpr int kAnswerRoom = 24;  // underscores

std::string number_text(double value, std::string_view unit) {
  return value_text(value, unit).toStdString();
}

std::vector<std::string> rows_of(const Drawing& drawing) {
  std::vector<std::string> rows;
  for (const auto& row : drawing.rows) {
    std::string& line = rows.emplace_back();
    for (const std::optional<Action>& action : row)
      line += fmt::format(
          "{:<4}",
          action ? fmt::format("{}{}", letter_of(action->kind), action->microbatch) : "..");
  }
  return rows;
}

// The student's own number is not known on paper.
std::string without_guess(const std::string& markdown) {
  static const QRegularExpression kGuess(QStringLiteral("\\{\\{[^}]*\\bguess\\b[^}]*\\}\\}"));
  return QString::fromStdString(markdown).replace(kGuess, QStringLiteral("____")).toStdString();
}

// One step as it stands on the paper.
class StepOnPaper {
 public:
  StepOnPaper(const Lesson& lesson, const HandoutWish& wish, const Context& context,
              const Symbols& after)
      : lesson_(lesson),
        text_(lesson.text(LessonPlayer::language())),
        wish_(wish),
        context_(context),
        after_(after) {}

  Result<QString> markdown(const Step& step, std::size_t number, const Symbols& before) {
    const auto found = text_.steps.find(step.id);
    if (found == text_.steps.end()) return QString();
    const StepText& words = found->second;
    QString paper =
        QStringLiteral("## %1. %2\n\n%3\n\n")
            .arg(number)
            .arg(QString::fromStdString(words.title), filled(without_guess(words.body), before));
    for (const Option& option : options_drawn(step, wish_.numbers))
      if (const std::string& card = words.part("option " + option.id); !card.empty())
        paper +=
            QStringLiteral("- %1%2\n")
                .arg(filled(card, after_).replace(QLatin1String("\n\n"), QLatin1String("\n\n  ")),
                     wish_.answers && option.correct
                         ? QStringLiteral(" **(%1)**").arg(Handout::tr("right"))
                         : QString());
    paper += QLatin1Char('\n');
    paper += as_lines(rows_of(step.drawing));
    if (!wish_.answers) paper += as_lines(step.order.start);
    paper += wish_.answers ? answers(step, words) : room(step, words);
    if (fault_) return *fault_;
    return paper;
  }

 private:
  QString filled(const std::string& markdown, const Symbols& symbols) {
    const Result<std::string> text = fill_in(markdown, symbols, number_text);
    if (text) return QString::fromStdString(*text);
    if (!fault_) fault_ = text.error();
    return {};
  }

  QString right_number(const Ask& ask) {
    const Result<double> right = evaluate(ask.answer, context_.symbols());
    if (right) return value_text(*right, ask.unit);
    if (!fault_) fault_ = right.error();
    return {};
  }

  QString right_number(const QuestionPart& part) {
    const Result<double> right = value_of_part(part, context_);
    if (right) return value_text(*right, part.ask.unit);
    if (!fault_) fault_ = right.error();
    return {};
  }

  QString right_option(const QuestionPart& part, const StepText& words) {
    const Result<std::string> option = option_of_part(part, context_);
    if (option) return filled(words.part("option " + *option), after_);
    if (!fault_) fault_ = option.error();
    return {};
  }

  // The number with the noun that says what it counts.
  static QString counted(const QString& number, const StepText& words, const std::string& part) {
    const QString what = QString::fromStdString(words.part(part));
    return what.isEmpty() ? number : number + QChar(0x00a0) + what;
  }

  static QString line(const QString& what, const QString& value) {
    return QStringLiteral("**%1:** %2\n\n").arg(what, value);
  }

  // Rows of stages, as code: a column is a slot.
  static QString as_lines(const std::vector<std::string>& lines) {
    QString paper;
    for (const std::string& one : lines)
      paper += QStringLiteral("    %1\n").arg(QString::fromStdString(one));
    return lines.empty() ? paper : paper + QLatin1Char('\n');
  }

  QString room(const Step& step, const StepText& words) {
    const QString space(kAnswerRoom, QLatin1Char('_'));
    QString paper;
    // What stands behind the field in the window: "MiB", "%", "layers".
    const auto behind = [&](const Ask* ask, const std::string& part) {
      const QString what = QString::fromStdString(words.part(part));
      const QString unit = ask && !ask->answer.empty() ? unit_label(ask->unit, what) : what;
      return unit.isEmpty() ? space : space + QChar(0x00a0) + unit;
    };
    for (const QuestionPart& part : step.parts)
      paper += line(filled(words.part("part " + part.id), after_),
                    behind(part.option.empty() ? &part.ask : nullptr, "unit " + part.id));
    if (step.parts.empty() && step.kind != StepKind::kRead)
      paper += line(Handout::tr("Your answer"), behind(step.ask ? &*step.ask : nullptr, "unit"));
    return paper;
  }

  QString answers(const Step& step, const StepText& words) {
    QString paper;
    if (step.ask && !step.ask->answer.empty())
      paper += line(Handout::tr("Answer"), counted(right_number(*step.ask), words, "unit"));
    for (const QuestionPart& part : step.parts)
      paper += line(filled(words.part("part " + part.id), after_),
                    part.option.empty() ? counted(right_number(part), words, "unit " + part.id)
                                        : right_option(part, words));
    QStringList settings;
    for (const auto& [key, value] : step.solution) {
      const SetupSetting* row = find_setting(setup_settings(), key);
      settings << QStringLiteral("%1 = %2").arg(QString::fromStdString(row ? row->label : key),
                                                shown_value(value));
    }
    if (!settings.isEmpty())
      paper += line(Handout::tr("A solution"), settings.join(QStringLiteral(", ")));
    if (!step.order.solution.empty()) {
      paper += QStringLiteral("**%1:**\n\n").arg(Handout::tr("A solution"));
      paper += as_lines(step.order.solution);
    }
    if (const std::string& model = words.part("answer"); !model.empty())
      paper += filled(model, after_) + QStringLiteral("\n\n");
    return paper;
  }

  // A value that begins with = is an expression over the drawn parameters.
  QString shown_value(const std::string& value) {
    const Result<std::string> word = picked(value, context_.drawn);
    if (!word) {
      if (!fault_) fault_ = word.error();
      return {};
    }
    const QString text = QString::fromStdString(*word);
    bool is_number = false;
    const double number = text.toDouble(&is_number);
    return value.starts_with('=') && is_number ? value_text(number, "1") : text;
  }

  const Lesson& lesson_;
  const LessonText& text_;
  const HandoutWish& wish_;
  const Context& context_;
  const Symbols& after_;
  std::optional<Message> fault_;
};

QImage picture(const QString& path) {
  QImageReader reader(path);
  const QSize natural = reader.size();
  if (!natural.isValid()) return {};
  const int width = std::min(natural.width(), kPictureWidth);
  reader.setScaledSize(
      natural.scaled(width * kSharpness, natural.height() * kSharpness, Qt::KeepAspectRatio));
  QImage image = reader.read();
  image.setDevicePixelRatio(kSharpness);
  return image;
}

QByteArray as_html(const QTextDocument& document, const std::vector<std::string>& pictures) {
  QString html = document.toHtml();
  for (const std::string& name : pictures) {
    const QUrl url(QString::fromStdString(name));
    const auto image = document.resource(QTextDocument::ImageResource, url).value<QImage>();
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    html.replace(QStringLiteral("src=\"%1\"").arg(QString::fromStdString(name)),
                 QStringLiteral("width=\"%1\" src=\"data:image/png;base64,%2\"")
                     .arg(image.width() / kSharpness)
                     .arg(QString::fromLatin1(png.toBase64())));
  }
  return html.toUtf8();
}

}  // namespace

QByteArray paper_pdf(QTextDocument& document, const QString& title) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setTitle(title);
  writer.setCreator(QStringLiteral("Parallelarium"));
  writer.setPageSize(QPageSize(QPageSize::A4));
  writer.setPageMargins(QMarginsF());  // print() leaves two centimetres, and numbers the pages
  document.print(&writer);
  buffer.close();
  return bytes;
}

Result<Lesson> lesson_named(const QString& name) {
  const QString own = QDir(QString::fromStdString(lessons_folder())).filePath(name);
  return read_lesson((QFileInfo(name).isDir() ? name : own).toStdString());
}

Result<Handout> Handout::of(const Lesson& lesson, const HandoutWish& wish,
                            Predictions& predictions) {
  const LessonText& text = lesson.text(LessonPlayer::language());
  Handout handout;
  handout.title_ = QString::fromStdString(text.title);
  handout.folder_ = QString::fromStdString(lesson.folder);
  handout.markdown_ =
      QStringLiteral("# %1\n\n%2\n\n").arg(handout.title_, QString::fromStdString(text.summary));
  if (!wish.answers)
    handout.markdown_ += QStringLiteral("%1: %2\n\n").arg(tr("Name"), QString(32, u'_'));
  handout.markdown_ += tr("Numbers: %1").arg(wish.numbers) + QStringLiteral("\n\n");
  const Symbols drawn = draw(lesson, wish.numbers);
  bool guessed = false;
  for (std::size_t at = 0; at < lesson.steps.size(); ++at) {
    const Step& step = lesson.steps[at];
    // What to take away would answer the questions.
    const bool last = at + 1 == lesson.steps.size();
    if (last && step.kind == StepKind::kRead && !wish.answers) break;
    const Result<Settings> before = settings_at(lesson, at, drawn);
    if (!before) return before.error();
    Result<Context> after = context_at(lesson, at, drawn, predictions);
    if (after && step.sets_plan()) {  // the figures are those of the plan that solves it
      Result<Settings> solved = with_fields(after->settings, step.solution, drawn);
      if (!solved) return solved.error();
      after = context_of(std::move(*solved), drawn, predictions);
    }
    if (!after) return after.error();
    Context entering;
    entering.settings = *before;
    entering.drawn = drawn;
    const Symbols names = names_after(step, *after, guessed);
    StepOnPaper paper(lesson, wish, *after, names);
    const Result<QString> markdown = paper.markdown(step, at + 1, entering.symbols());
    if (!markdown) return markdown.error();
    handout.markdown_ += *markdown;
    guessed = guessed || commits_a_number(step);
  }
  return handout;
}

Result<void> Handout::save(const QString& path) const {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (ending != QLatin1String("pdf") && ending != QLatin1String("html"))
    return message("handout-ending", "The file {} must end in .pdf or .html.", path.toStdString());
  QTextDocument document;
  QFont font = document.defaultFont();
  font.setPointSizeF(kLetterPt);
  document.setDefaultFont(font);
  document.setMarkdown(markdown_);  // it forgets the pictures of the text before
  const std::vector<std::string> pictures = links_of(markdown_.toStdString()).pictures;
  for (const std::string& name : pictures)
    document.addResource(QTextDocument::ImageResource, QUrl(QString::fromStdString(name)),
                         picture(QDir(folder_).filePath(QString::fromStdString(name))));
  document.setMetaInformation(QTextDocument::DocumentTitle, title_);
  style_paper_tables(document, kCellPadding);
  return write_bytes(path, ending == QLatin1String("pdf") ? paper_pdf(document, title_)
                                                          : as_html(document, pictures));
}

}  // namespace parallelarium
