// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/selection/selection_panel.h"

#include <QEvent>
#include <QRegularExpression>
#include <QTextDocument>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "app/look/figures.h"
#include "app/look/scroll_hint.h"
#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/selection/line_column.h"
#include "app/selection/proof_text.h"
#include "app/settings/controls.h"
#include "app/state/topic.h"
#include "engine/lesson/leak.h"
#include "engine/plan/text/message_json.h"

namespace parallelarium {

namespace {

constexpr int kMostHeight = 260;        // asked for; the rest scrolls
constexpr std::size_t kMostLosses = 8;  // the latest ones

// A bubble is a share of something, and read as one; above the whole it is a multiple.
QString formula_value(const Formula& formula) {
  const bool share = formula.name.kind == "bubble";
  const QString text = value_text(formula.value, share ? "share" : formula.unit);
  return share && formula.value > 1
             ? SelectionPanel::tr("%1 times, %2").arg(number_text(formula.value), text)
             : text;
}

// The engine writes 1,234.5 as English does.
QString numbers_in_locale(const QString& values) {
  static const QRegularExpression mark(QStringLiteral("(?<=\\d)[.,](?=\\d)"));
  const QLocale locale;
  QString text;
  qsizetype from = 0;
  for (auto found = mark.globalMatch(values); found.hasNext();) {
    const qsizetype at = found.next().capturedStart();
    text += values.mid(from, at - from) +
            (values[at] == QLatin1Char(',') ? locale.groupSeparator() : locale.decimalPoint());
    from = at + 1;
  }
  return text + values.mid(from);
}

// Tells when it has other colours.
class Ground : public QWidget {
 public:
  explicit Ground(std::function<void()> recoloured) : recoloured_(std::move(recoloured)) {}

 protected:
  void changeEvent(QEvent* event) override {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) recoloured_();
  }

 private:
  std::function<void()> recoloured_;
};

bool hidden_by(const QStringList& hidden, const QString& formula) {
  std::vector<std::string> keys;
  for (const QString& key : hidden) keys.push_back(key.toStdString());
  return hides_formulas(keys, formula.toStdString());
}

LineColumn& lines_of(QVBoxLayout* column) { return static_cast<LineColumn&>(*column); }

}  // namespace

SelectionPanel::SelectionPanel(Session& session, QWidget* parent)
    : QScrollArea(parent), session_(session) {
  setObjectName(QStringLiteral("SelectionPanel"));
  speak_as(*this, {QAccessible::StaticText, [this] { return spoken(); }, true});
  setAccessibleName(tr("Selected"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // Words of facts have a colour of the theme in their text.
  auto* content = new Ground(
      [this] { QMetaObject::invokeMethod(this, &SelectionPanel::refresh, Qt::QueuedConnection); });
  content->setObjectName(QStringLiteral("SelectionContent"));
  column_ = new LineColumn(content);
  column_->setContentsMargins(16, 12, 16, 12);
  column_->setSpacing(4);
  setWidget(content);
  add_scroll_hint(*this);
  for (const auto signal : {&Subject::selection_changed, &Subject::range_changed})
    connect(&session_.subject(), signal, this, [this] {
      text_ = {};
      refresh();
    });
  connect(&session_, &Session::prediction_changed, this, &SelectionPanel::refresh);
  connect(&session_, &Session::topic_changed, this, &SelectionPanel::refresh);
  connect(&session_, &Session::run_changed, this, &SelectionPanel::refresh);
  connect(&session_, &Session::run_state_changed, this, [this] {  // the loss of a run under way
    if (session_.jobs().live_losses().size() == live_steps_) return;
    live_steps_ = session_.jobs().live_losses().size();
    if (formula_key_ == QLatin1String("losses")) refresh();
  });
  for (const auto signal : {&LessonLocks::hidden_changed, &LessonLocks::question_changed})
    connect(&session_.locks(), signal, this, &SelectionPanel::refresh);
  refresh();
}

void SelectionPanel::show_formulas(const QString& key, const QString& origin) {
  formula_key_ = key;
  origin_ = origin;
  refresh();
}

void SelectionPanel::set_hint(std::function<QString()> hint) {
  hint_ = std::move(hint);
  refresh();
}

void SelectionPanel::show_text(const SelectionText& text) {
  text_ = text;
  refresh();
}

void SelectionPanel::follow_view(bool has_ops) {
  has_ops_ = has_ops;
  text_ = {};
  refresh();
}

// Line by line as it stands there; its labels were made in another order.
QString SelectionPanel::spoken() const {
  QStringList said;
  for (const LineColumn::Line& line : lines_of(column_).shown()) {
    QTextDocument document;
    document.setHtml(line.text);
    said << spoken_text(document);
  }
  return said.join(QLatin1Char('\n'));
}

void SelectionPanel::add_caps(const QString& text) { lines_of(column_).add({text, {}, true}); }

void SelectionPanel::add_text(const QString& html, const QString& role) {
  lines_of(column_).add({html, role, false});
}

bool SelectionPanel::formula_is_hidden() const {
  return hidden_by(session_.locks().hidden_keys(), formula_key_);
}

void SelectionPanel::refresh() {
  const QString muted = theme_for(palette()).muted.name();
  const auto add = [&](const SelectionText& text) {
    add_text(text.headline.toHtmlEscaped());
    for (const FactLine& fact : text.facts)
      add_text(QStringLiteral("<span style='color:%1'>%2</span> %3")
                   .arg(muted, fact.word.toHtmlEscaped(), fact.value.toHtmlEscaped()));
  };
  const Topic& topic = session_.topic();
  const SelectionText selected =
      topic.is_step() && has_ops_ ? describe_selection(session_) : SelectionText();
  const SelectionText& shown = text_.headline.isEmpty() ? selected : text_;
  const QString hint = shown.headline.isEmpty() && hint_ ? hint_() : QString();
  if (!shown.headline.isEmpty() || !hint.isEmpty()) add_caps(tr("Selected"));
  if (!shown.headline.isEmpty()) add(shown);
  if (!hint.isEmpty()) add_text(hint, QStringLiteral("muted"));
  if (topic.is_step()) add_proof();
  if (topic.is_step()) add_remarks();
  add_formulas();
  const bool changed = lines_of(column_).show_added();
  // What a lesson hides is nowhere.
  if (!session_.locks().hidden_keys().isEmpty()) lines_of(column_).forget_spare();
  if (!changed) return;
  fit();
  updateGeometry();
}

QSize SelectionPanel::sizeHint() const {
  return {QScrollArea::sizeHint().width(), std::min(widget()->minimumHeight(), kMostHeight)};
}

void SelectionPanel::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

// A scroll area asks its content for a least height without knowing that text wraps.
void SelectionPanel::fit() {
  column_->setEnabled(false);  // else each that is shown has all of them laid out
  for (int at = 0; at < column_->count(); ++at)
    if (QWidget* label = column_->itemAt(at)->widget()) {
      label->ensurePolished();
      label->show();  // else the layout leaves it out until the event loop shows it
    }
  column_->setEnabled(true);
  column_->invalidate();
  widget()->setMinimumHeight(std::max(0, column_->totalHeightForWidth(viewport()->width())));
}

void SelectionPanel::add_proof() {
  const RunRecord* run = session_.runs().current();
  if (!run || session_.runs().current_is_stale() || !run->proof) return;
  // JSON has no infinity: what differs without bound is null.
  const auto number = [&](const char* key) {
    const auto found = run->proof->find(key);
    return found != run->proof->end() && found->is_number()
               ? found->get<double>()
               : std::numeric_limits<double>::infinity();
  };
  const double loss = number("loss_difference"), loss_bound = number("loss_bound");
  const double gradient = number("gradient_difference"), gradient_bound = number("gradient_bound");
  const bool holds = run->proof->value("holds", false);
  add_caps(tr("Proof: the same as one rank"));
  add_text(proof_text(*run->proof), holds ? QStringLiteral("good") : QStringLiteral("warning"));
  add_text(tr("loss differs by %1 (bound %2)").arg(number_text(loss), number_text(loss_bound)));
  add_text(tr("gradients differ by %1 (bound %2)")
               .arg(number_text(gradient), number_text(gradient_bound)));
  const Message worst = message_at(*run->proof, "worst_parameter");
  if (!worst.text.empty())
    add_text(tr("largest difference: %1").arg(sentence(worst).toHtmlEscaped()),
             QStringLiteral("small"));
}

// What the loss is, what it would be by chance, and what the run has shown.
void SelectionPanel::add_loss() {
  const Model& model = session_.setup().model;
  const QLocale locale;
  const auto written = [&](double loss) { return locale.toString(loss, 'f', 3); };
  add_text(tr("loss = mean of \u2212ln p(next token) over the tokens of a step"));
  add_text(tr("at first, by chance: ln V = ln %1 = <b>%2</b>")
               .arg(count_text(model.vocab), written(std::log(double(model.vocab)))));
  if (session_.locks().hidden(QStringLiteral("lane.run"))) {
    add_text(tr("? hidden for now"), QStringLiteral("muted"));
    return;
  }
  const RunRecord* run = session_.runs().current();
  const bool fresh = run && run->observed() && !session_.runs().current_is_stale();
  const bool live = !session_.jobs().live_losses().empty();
  const std::vector<double>& losses = live    ? session_.jobs().live_losses()
                                      : fresh ? run->observation.losses
                                              : session_.jobs().live_losses();
  if (losses.empty()) {
    add_text(tr("Nothing predicts it: Run trains for real and shows the loss of every step."),
             QStringLiteral("muted"));
    return;
  }
  const std::size_t first = losses.size() > kMostLosses ? losses.size() - kMostLosses : 0;
  if (first > 0) add_text(tr("step 1: %1 \u2026").arg(written(losses.front())));
  QStringList lines;
  for (std::size_t step = first; step < losses.size(); ++step)
    lines << tr("step %1: %2").arg(step + 1).arg(written(losses[step]));
  add_text(lines.join(QStringLiteral("<br>")));
  add_text(live ? tr("The run is under way; warm-up steps count, as they train too.")
                : tr("Observed by the run; warm-up steps count, as they train too."),
           QStringLiteral("small"));
}

// Why data parallelism pays: the same step does more.
void SelectionPanel::add_throughput(const Prediction& prediction) {
  const double tokens = prediction.step.tokens_per_second * prediction.step.seconds;
  add_text(QStringLiteral("<b>%1</b>").arg(tr("throughput")));
  add_text(tr("tokens of a step / step time = %1 / %2 = <b>%3</b>")
               .arg(count_text(std::llround(tokens)), seconds_text(prediction.step.seconds),
                    tokens_rate_text(prediction.step.tokens_per_second)));
}

// On what is legal, but seldom wise. A lesson that hides or asks something may ask about it.
void SelectionPanel::add_remarks() {
  const LessonLocks& locks = session_.locks();
  if (session_.topic().problem() || !locks.hidden_keys().isEmpty() || locks.question_open()) return;
  const std::vector<Message> remarks = unwise(*session_.subject().prediction());
  if (remarks.empty()) return;
  add_caps(tr("Worth knowing"));
  for (const Message& remark : remarks) add_text(sentence(remark).toHtmlEscaped());
}

void SelectionPanel::add_formulas() {
  const std::shared_ptr<const Prediction> prediction = session_.subject().prediction();
  const Topic& topic = session_.topic();
  const std::vector<Formula> chosen = topic.formulas(formula_key_);
  const bool bubble = formula_key_.startsWith(QLatin1String("bubble"));
  const bool loss = formula_key_ == QLatin1String("losses");
  const bool told = chosen.empty() && !formula_is_hidden();  // of a figure without a closed form
  add_caps(loss     ? tr("Loss")
           : told   ? tr("Where the figure comes from")
           : bubble ? tr("Formula, without transfers")
                    : tr("Formula"));
  if (formula_is_hidden()) {
    add_text(tr("? hidden for now"), QStringLiteral("muted"));
    return;
  }
  if (loss) return add_loss();
  if (topic.is_step() && topic.problem()) {
    add_text(tr("The settings are not valid; the formula comes back with them."),
             QStringLiteral("muted"));
    return;
  }
  if (chosen.empty()) add_text(origin_.toHtmlEscaped());
  if (formula_key_ == QLatin1String("step.seconds")) add_throughput(*prediction);
  for (const Formula& formula : chosen) {
    const QString kind = QString::fromStdString(formula.name.kind);
    if (hidden_by(session_.locks().hidden_keys(), kind)) continue;  // asked for beside it
    add_text(QStringLiteral("<b>%1</b>").arg(sentence(formula.name).toHtmlEscaped()));
    add_text(QStringLiteral("%1 = %2 = <b>%3</b>")
                 .arg(sentence(formula.expression).toHtmlEscaped(),
                      numbers_in_locale(QString::fromStdString(formula.values)).toHtmlEscaped(),
                      formula_value(formula).toHtmlEscaped()));
    add_text(sentence(formula.source).toHtmlEscaped(), QStringLiteral("small"));
    if (!formula.note.text.empty())
      add_text(sentence(formula.note).toHtmlEscaped(), QStringLiteral("small"));
  }
  if (!bubble) return;
  add_caps(tr("Predicted, with transfers"));
  add_text(tr("bubble of whole step <b>%1</b>").arg(share_text(prediction->bubble.of_total)));
  add_text(tr("bubble over ideal time <b>%1</b>").arg(share_text(prediction->bubble.over_ideal)));
  add_text(tr("bubble of the longest rank, from its first to its last action <b>%1</b>")
               .arg(share_text(prediction->bubble.of_longest_rank)));
}

}  // namespace parallelarium
