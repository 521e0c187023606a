// SPDX-License-Identifier: GPL-3.0-or-later
// A German window has no English left: in every state, each text, tooltip and name for screen
// readers differs from that of the English window, or has no word in it that differs.
#include "tests/app/window/texts/german.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractItemModel>
#include <QComboBox>
#include <QDialog>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSet>
#include <QTableView>
#include <QTextDocument>
#include <memory>

#include "app/lesson/lesson_panel.h"
#include "app/selection/selection_panel.h"
#include "app/settings/setup_panel.h"
#include "app/shell/window.h"
#include "app/views/views.h"
#include "engine/collectives/collective.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/model/model.h"
#include "engine/schedules/schedule.h"
#include "engine/wire/frameworks/framework.h"
#include "tests/app/window/window_states.h"

namespace parallelarium {
namespace {

void add(QSet<QString>& texts, QString text) {
  if (Qt::mightBeRichText(text)) {
    QTextDocument document;
    document.setHtml(text);
    text = document.toPlainText();
  }
  for (const QString& line : text.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) texts.insert(line);
}

void add_items(QSet<QString>& texts, const QAbstractItemModel& model) {
  for (int column = 0; column < model.columnCount(); ++column) {
    add(texts, model.headerData(column, Qt::Horizontal).toString());
    for (int row = 0; row < std::min(model.rowCount(), 50); ++row)
      for (const int role : {int(Qt::DisplayRole), int(Qt::ToolTipRole)})
        add(texts, model.data(model.index(row, column), role).toString());
  }
}

// All that `root` says, shown or not: what is hidden now comes when it is needed. A lesson has
// languages of its own.
QSet<QString> texts_of(const QWidget& root, const QWidget* lesson) {
  QSet<QString> texts;
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    if (lesson && lesson->isAncestorOf(widget)) continue;
    for (const QString& text : {widget->toolTip(), widget->accessibleName(),
                                widget->accessibleDescription(), widget->windowTitle()})
      add(texts, text);
    if (const auto* label = qobject_cast<const QLabel*>(widget)) add(texts, label->text());
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
      add(texts, button->text());
    if (const auto* group = qobject_cast<const QGroupBox*>(widget)) add(texts, group->title());
    if (const auto* line = qobject_cast<const QLineEdit*>(widget))
      add(texts, line->placeholderText());
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) add_items(texts, *box->model());
    if (const auto* table = qobject_cast<const QTableView*>(widget))
      if (table->model()) add_items(texts, *table->model());
    for (const QAction* action : widget->actions())
      for (const QString& text : {action->text(), action->toolTip()}) add(texts, text);
  }
  return texts;
}

// Where the actions stand that open a dialog.
std::vector<qsizetype> dialogs_of(Window& english) {
  std::vector<qsizetype> places;
  const QList<QAction*> all = english.all_actions();
  for (const char* name : {"All settings …", "Shortcuts", "Doctor", "Words"})
    for (qsizetype at = 0; at < all.size(); ++at)
      if (QString(all[at]->text()).remove(QLatin1Char('&')) == QString::fromUtf8(name))
        places.push_back(at);
  EXPECT_EQ(places.size(), 4u);
  return places;
}

// What the window says in a state, view by view, and where it starts in those dialogs, too.
QSet<QString> texts_in(Window& window, const QString& state,
                       const std::vector<qsizetype>& dialogs) {
  put_into(window, state);
  const QWidget* lesson = &window.lesson();
  QSet<QString> texts;
  for (const ViewInfo& view : views()) {
    window.show_view(QLatin1String(view.id));
    let_layouts_settle(20);
    texts += texts_of(window, lesson);
  }
  if (state == QLatin1String("start")) {
    for (const qsizetype at : dialogs) window.all_actions()[at]->trigger();
    EXPECT_TRUE(wait_until(  // the Doctor asks the engine first
        [&] {
          return window.findChildren<QLabel*>().size() > 60 &&
                 window.session().jobs().process().greeting().is_object();
        },
        kRunMs));
    let_layouts_settle(500);
    texts += texts_of(window, lesson);
    for (QDialog* dialog : window.findChildren<QDialog*>()) delete dialog;
  }
  leave_state(window);
  return texts;
}

std::unique_ptr<Window> read_window() {
  auto window = std::make_unique<Window>();
  window->set_asks(false);
  window->session().playback().set_playing(false);
  window->resize(1440, 900);
  window->setUpdatesEnabled(false);  // nothing is read off the screen
  window->show();
  return window;
}

// Names, and words that are the same in both languages.
QSet<QString> same_words() {
  QSet<QString> words;
  const auto take = [&](const QString& text) {
    for (const QString& one :
         text.split(QRegularExpression(QStringLiteral("[^A-Za-z]+")), Qt::SkipEmptyParts))
      words.insert(one.toLower());
  };
  for (const ScheduleInfo& info : schedules()) {
    if (info.name == "naive") continue;  // the only one that is no name
    take(QString::fromStdString(info.title));
    take(QString::fromStdString(info.name));
  }
  for (const FrameworkInfo& info : framework_infos()) take(QString::fromStdString(info.title));
  for (const AlgorithmInfo& info : collective_algorithms()) take(QString::fromStdString(info.name));
  for (const std::string& name : model_names()) {
    take(QString::fromStdString(name));
    take(QString::fromStdString(find_model(name)->title));
  }
  for (const std::string& name : machine_names()) {
    take(QString::fromStdString(name));
    if (name != "local") take(QString::fromStdString(find_machine(name)->title));
  }
  take(QStringLiteral(
      "Parallelarium NVIDIA CUDA NCCL PyTorch Megatron DeepSpeed ZeRO Ulysses GeLU SwiGLU LLaMA "
      "float bfloat mixed main grads states auto native "
      "all reduce gather scatter broadcast send recv ring "
      "Rank Pipeline Mesh Tensor Token Attention Router Experte Dispatch Combine Dropout Loss "
      "Batch "
      "Chrome Trace Doctor Engine Setup Format Parameter Kernel Server Modus minus plus global "
      "Embedding Norm QKV MLP Switch Torus Start Stop Info Version Text System Name "
      "Ctrl Shift Home Return Space Page Enter Left Right Down Delete Escape Ins "
      "dropless Backend Operation Bytes Export Zoom GPUs prod softmax sigmoid default Logits "
      "Adam FSDP HSDP FLOP MFLOP GFLOP TFLOP PFLOP NVLink DeepSeek DualPipe Roofline PCIe"));
  return words;
}

// Where a number comes from is cited as it is printed, a formula has the symbols of its paper, and
// Qt's own words come from Qt's translations, which a computer may lack.
bool is_as_printed(const QString& text) {
  static const QRegularExpression cited(
      QStringLiteral("et al\\.|^[A-Z][a-z]+ and [A-Z][a-z]+ \\d{4}|arXiv|JPDC|, docs: "
                     "|^specification: | whitepaper$"));
  static const QRegularExpression formula(QStringLiteral("^[^.]*[+·/(][^.]* = [^=]*\\d"));
  static const QSet<QString> of_qt{QStringLiteral("Scroll Left"), QStringLiteral("Scroll Right"),
                                   QStringLiteral("Press shortcut"), QStringLiteral("Close")};
  return of_qt.contains(text) || cited.match(text).hasMatch() || formula.match(text).hasMatch();
}

QStringList english_of(const QSet<QString>& english, const QSet<QString>& german) {
  static const QSet<QString> same = same_words();
  static const QRegularExpression word(QStringLiteral("[A-Za-z]{4,}"));
  QStringList left;
  for (const QString& text : english& german) {
    if (is_as_printed(text)) continue;
    // An option of the command line, a key of a file and a file's path are the same everywhere.
    QString shown = text;
    shown.remove(QRegularExpression(QStringLiteral("--[a-z-]+|[a-z]+(_[a-z]+)+|\\S*/\\S+")));
    for (auto found = word.globalMatch(shown); found.hasNext();) {
      if (same.contains(found.next().captured().toLower())) continue;
      left << text;
      break;
    }
  }
  left.sort();
  return left;
}

class GermanWindow : public testing::TestWithParam<const char*> {};

TEST_P(GermanWindow, HasNoEnglishLeft) {
  const QString state = QLatin1String(GetParam());
  auto window = read_window();
  const std::vector<qsizetype> dialogs = dialogs_of(*window);
  const QSet<QString> english = texts_in(*window, state, dialogs);
  EXPECT_GT(english.size(), 200);
  window.reset();
  const German in_german;
  window = read_window();
  const QStringList left = english_of(english, texts_in(*window, state, dialogs));
  EXPECT_TRUE(left.isEmpty()) << left.join(QLatin1Char('\n')).toStdString();
}

INSTANTIATE_TEST_SUITE_P(States, GermanWindow, testing::ValuesIn(kWindowStates),
                         [](const auto& tested) { return std::string(tested.param); });

// Papers keep their names and titles; the place in one is said in German.
TEST(GermanFormulas, CiteThePlaceInAPaper) {
  const German in_german;
  Window window;
  window.set_asks(false);
  window.show();
  window.session().wait_for_prediction();
  QStringList cited;
  for (const char* view : {"pipeline", "memory", "layer", "mesh"}) {
    window.show_view(QLatin1String(view));
    QApplication::processEvents();
    for (const QLabel* label : window.findChild<SelectionPanel*>()->findChildren<QLabel*>())
      if (label->text().contains(QStringLiteral("arXiv"))) cited << label->text();
  }
  const QString all = cited.join(QLatin1Char('\n'));
  EXPECT_TRUE(all.contains(QStringLiteral("), Abschnitt 2.2.1"))) << all.toStdString();
  for (const char* english : {", section ", ", table ", ", appendix ", ", eq. "})
    EXPECT_FALSE(all.contains(QLatin1String(english))) << all.toStdString();
}

// Symbols and abbreviations are those of the papers; words between them are German.
TEST(GermanFormulas, SayTheWordsBetweenTheSymbols) {
  const German in_german;
  Session session;
  parallelarium::Setup setup = session.setup();
  ASSERT_TRUE(set_field(setup, "mesh.pp", "2"));
  ASSERT_TRUE(set_field(setup, "mesh.dp", "2"));
  ASSERT_TRUE(set_field(setup, "zero", "3"));
  session.history().change(setup, QStringLiteral("test"));
  session.wait_for_prediction();
  SelectionPanel panel(session);
  // Of four letters and more, and "grad" is an abbreviation.
  static const QRegularExpression word(QStringLiteral("\\b[a-z]{4,}\\b"));
  int shown = 0;
  for (const Formula& formula : session.subject().prediction()->formulas) {
    const QString english = QString::fromStdString(formula.expression.text);
    if (!english.contains(word)) continue;
    panel.show_formulas(QString::fromStdString(formula.name.kind), {});
    QString all;
    for (const QLabel* label : panel.findChildren<QLabel*>())
      if (!label->isHidden()) all += label->text() + QLatin1Char('\n');
    for (auto found = word.globalMatch(english); found.hasNext();) {
      const QString one = found.next().captured();
      if (one == QLatin1String("grad")) continue;
      ++shown;
      const QRegularExpression alone(QStringLiteral("\\b%1\\b").arg(one));
      for (const QString& line : all.split(QLatin1Char('\n')))
        EXPECT_FALSE(line.contains(QStringLiteral(" = <b>")) && line.contains(alone))
            << line.toStdString();
    }
  }
  EXPECT_GT(shown, 6);
}

// Thousands of ranks on thousands of nodes make no label wider than the panel.
TEST(GermanPanel, HoldsThousandsOfRanks) {
  const German in_german;
  Window window;
  window.resize(1440, 900);
  window.lesson().player().close();
  parallelarium::Setup setup = window.session().setup();
  for (const auto& [field, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"machine", "dgx-h100"},
                                                                  {"model", "llama3-405b"},
                                                                  {"mesh.tp", "8"},
                                                                  {"mesh.pp", "16"},
                                                                  {"mesh.dp", "128"}})
    ASSERT_TRUE(set_field(setup, field, value));
  window.session().history().change(setup, QStringLiteral("test"));
  window.session().wait_for_prediction();
  window.show();
  auto* panel = window.findChild<SetupPanel*>();
  ASSERT_TRUE(panel && panel->isVisible());
  qApp->processEvents();
  EXPECT_LE(panel->widget()->width(), panel->viewport()->width());
  EXPECT_LE(panel->widget()->minimumSizeHint().width(), panel->viewport()->width());
}

}  // namespace
}  // namespace parallelarium
