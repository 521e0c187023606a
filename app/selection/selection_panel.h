// SPDX-License-Identifier: GPL-3.0-or-later
// Below the lesson: the selected op with its durations and what it waited for, the proof, and the
// formulas of a quantity with the student's numbers put in.
#pragma once

#include <QLabel>
#include <QScrollArea>
#include <functional>

#include "app/state/session.h"

class QVBoxLayout;

namespace parallelarium {

// One line of facts: "predicted 5.00 ms", the word muted.
struct FactLine {
  QString word, value;
  bool operator==(const FactLine&) const = default;
};
// The selected op as a headline and facts; empty headline when nothing is selected.
struct SelectionText {
  QString headline;
  std::vector<FactLine> facts;
  bool operator==(const SelectionText&) const = default;
};
SelectionText describe_selection(const Session& session);
// All of it in one line, as it is heard.
QString selection_sentence(const SelectionText& text);

class SelectionPanel : public QScrollArea {
  Q_OBJECT

 public:
  explicit SelectionPanel(Session& session, QWidget* parent = nullptr);
  // What to click, while nothing is selected; it is asked whenever something changes. Empty: there
  // is nothing to click.
  void set_hint(std::function<QString()> hint);
  // Shows the formulas that belong to a quantity of the strip ("bubble.of_total"); where there is
  // none, where its figure comes from.
  void show_formulas(const QString& key, const QString& origin);
  // Shows what another view says about its selection, until the next one.
  void show_text(const SelectionText& text);
  // Another view came to the front, which says nothing yet. Whether what it shows has the selected
  // op.
  void follow_view(bool has_ops);
  // As high as what it says, up to a limit.
  QSize sizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  QString spoken() const;
  void fit();
  void add_caps(const QString& text);
  void add_text(const QString& html_escaped, const QString& role = {});
  void add_formulas();
  void add_remarks();
  void add_proof();
  void add_loss();
  void add_throughput(const Prediction& prediction);
  bool formula_is_hidden() const;
  Session& session_;
  QVBoxLayout* column_;
  SelectionText text_;
  std::function<QString()> hint_;
  bool has_ops_ = true;
  QString formula_key_, origin_;
  std::size_t live_steps_ = 0;  // EngineJobs::live_losses(), as shown
};

}  // namespace parallelarium
