// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the Memory view and what they change.
#include <QHeaderView>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/memory/memory_state.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {

void MemoryView::build_controls() {
  State& s = *state_;
  build_choices();
  build_recipe();
  build_tensors();
  build_plot();
  s.holders = new HoldersPane(s.session, this);
  connect(s.holders, &HoldersPane::described, this, &MemoryView::described);
  connect(s.holders, &HoldersPane::retold, this, &MemoryView::retold);
  for (int at = 0; at < kPanesOfMemory; ++at) {
    const QString texts[] = {tr("&ZeRO stages"),   tr("&Bytes per parameter"),
                             tr("Over the &step"), tr("Every &rank"),
                             tr("&Tensors"),       tr("&Who holds what")};
    auto* action = new QAction(texts[at], this);
    connect(action, &QAction::triggered, this, [this, at] { show_pane(Pane(at)); });
    state_->actions.push_back(action);
  }
}

void MemoryView::build_choices() {
  State& s = *state_;
  s.rank = new QComboBox(this);
  s.rank->setAccessibleName(tr("Rank whose memory is shown"));
  connect(s.rank, &QComboBox::activated, this, [this](int index) { show_rank(index); });
  s.panes = new Segments(
      tr("What is shown"),
      {{QLatin1String(kPaneKeys[5]), tr("Who holds what"),
        tr("Which rank holds which layer's parameters, gradients and optimizer state now")},
       {QLatin1String(kPaneKeys[0]), tr("ZeRO"), tr("The four ZeRO stages")},
       {QLatin1String(kPaneKeys[1]), tr("Bytes"), tr("Bytes per parameter, and bytes sent")},
       {QLatin1String(kPaneKeys[2]), tr("Over the step"), tr("Memory of this rank over one step")},
       {QLatin1String(kPaneKeys[3]), tr("Every rank"),
        tr("First and last stages beside the others")},
       {QLatin1String(kPaneKeys[4]), tr("Tensors"),
        tr("What is kept for the backward, tensor by tensor")}},
      this);
  connect(s.panes, &Segments::chosen, this, [this](const QString& key) {
    for (int at = 0; at < kPanesOfMemory; ++at)
      if (key == QLatin1String(kPaneKeys[at])) show_pane(Pane(at));
  });
}

// The recipe of bytes per parameter, and its four numbers.
void MemoryView::build_recipe() {
  State& s = *state_;
  s.recipe = new QComboBox(this);
  s.recipe->setAccessibleName(tr("Recipe of bytes per parameter"));
  for (const Precision& recipe : precision_recipes())
    s.recipe->addItem(QString::fromStdString(recipe.name), QString::fromStdString(recipe.name));
  connect(s.recipe, &QComboBox::activated, this, [this](int index) {
    const std::vector<Precision> recipes = precision_recipes();
    if (index < 0 || index >= int(recipes.size())) return;
    Setup next = state_->session.setup();
    next.precision = recipes[std::size_t(index)];
    state_->session.history().change(next, tr("Precision %1").arg(state_->recipe->itemText(index)));
  });
  int Precision::*const kFields[] = {&Precision::parameter_bytes, &Precision::gradient_bytes,
                                     &Precision::master_bytes, &Precision::moments_bytes};
  const QString names[] = {tr("Bytes of a parameter"), tr("Bytes of a gradient"),
                           tr("Bytes of a master weight"), tr("Bytes of both moments")};
  for (std::size_t at = 0; at < 4; ++at) {
    const auto field = kFields[at];
    // With this field set to `bytes`; a recipe's name where the four are a recipe.
    const auto with = [this, field](int bytes) {
      Setup next = state_->session.setup();
      next.precision = state_->session.resolved().precision;
      next.precision.*field = bytes;
      next.precision.name = "custom";
      for (const Precision& recipe : precision_recipes()) {
        Precision same = recipe;
        same.name = "custom";
        if (same == next.precision) next.precision = recipe;
      }
      return next;
    };
    auto* box = new StepBox(
        names[at],
        [this, field, with](int direction) {
          for (int bytes = state_->session.resolved().precision.*field + direction;
               bytes >= 0 && bytes <= 16; bytes += direction)
            if (validate(state_->session.resolved(with(bytes))).empty())
              return QString::number(bytes);
          return QString();
        },
        this);
    connect(box, &StepBox::committed, this, [this, with, name = names[at]](const QString& text) {
      bool number = false;
      const int bytes = text.toInt(&number);
      if (number && bytes >= 0)
        state_->session.history().change(with(bytes), tr("%1 %2").arg(name).arg(bytes));
      refresh();
    });
    s.bytes.push_back(box);
  }
}

void MemoryView::build_tensors() {
  State& s = *state_;
  s.tensors = new QTableWidget(this);
  s.tensors->setAccessibleName(tr("Tensors kept for the backward"));
  s.tensors->setColumnCount(5);
  s.tensors->setHorizontalHeaderLabels({tr("Tensor"), tr("one layer, micro-batch"),
                                        tr("in the paper"), tr("its bytes"),
                                        tr("held at the peak")});
  for (int column = 0; column < s.tensors->columnCount(); ++column)
    s.tensors->horizontalHeaderItem(column)->setTextAlignment(
        (column == 0 || column == 2 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  s.tensors->verticalHeader()->hide();
  s.tensors->verticalHeader()->setDefaultSectionSize(22);
  s.tensors->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  s.tensors->horizontalHeader()->setStretchLastSection(true);
  s.tensors->setEditTriggers(QAbstractItemView::NoEditTriggers);
  s.tensors->setSelectionBehavior(QAbstractItemView::SelectRows);
  s.tensors->setShowGrid(false);
  s.tensors->setFrameShape(QFrame::NoFrame);
  // Heads as far from the edges as the cells' texts.
  s.tensors->setStyleSheet(QStringLiteral("QHeaderView::section { padding: 5px 3px; }"));
  s.tensor_note = new QLabel(this);
  s.tensor_note->setWordWrap(true);
  s.tensor_note->setProperty("role", "small");
}

void MemoryView::refresh_tensors() {
  State& s = *state_;
  const TensorTable table = tensor_table(*s.session.subject().prediction(), s.shown.rank_index);
  s.tensors->setRowCount(int(table.terms.size()));
  for (int row = 0; row < int(table.terms.size()); ++row) {
    const TensorTerm& term = table.terms[std::size_t(row)];
    const QString held = bytes_text(term.most);
    const QString most = term.most == 0   ? QStringLiteral("\u2013")
                         : term.held == 1 ? tr("%1 in 1 tensor").arg(held)
                                          : tr("%1 in %2 tensors").arg(held).arg(term.held);
    const QString cells[] = {
        term.name, bytes_text(term.one), term.paper,
        term.paper_bytes > 0 ? bytes_text(std::llround(term.paper_bytes)) : QString(), most};
    for (int column = 0; column < 5; ++column) {
      auto* item = new QTableWidgetItem(s.shown.hidden && column > 0 ? kHidden : cells[column]);
      if (column != 0 && column != 2) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      if (column == 1) item->setToolTip(exact_bytes_text(term.one));
      s.tensors->setItem(row, column, item);
    }
  }
  // Of another model than the paper's there is nothing to set beside it.
  for (const int column : {2, 3})
    s.tensors->setColumnHidden(
        column, std::none_of(table.terms.begin(), table.terms.end(),
                             [](const TensorTerm& term) { return term.paper_bytes > 0; }));
  QString note;
  if (table.paper_layer > 0)
    note = tr("One layer and micro-batch: %1 here, %2 by Korthikanti et al. 2022, table 2.")
               .arg(bytes_text(table.one_layer), bytes_text(std::llround(table.paper_layer)));
  if (!table.differences.isEmpty() && std::llround(table.paper_layer) != table.one_layer)
    note += QLatin1Char(' ') +
            tr("Why they differ: %1.").arg(table.differences.join(QStringLiteral("; ")));
  s.tensor_note->setText(s.shown.hidden ? tr("Hidden until you answer.") : note.trimmed());
}

void MemoryView::build_plot() {
  State& s = *state_;
  s.plot = new QCustomPlot(this);
  s.plot->setFocusPolicy(Qt::NoFocus);
  s.plot->setAttribute(Qt::WA_TransparentForMouseEvents);
  // The cursor moves at every frame; on a layer of its own the areas are not drawn again for it.
  s.plot->addLayer(QStringLiteral("playhead"), nullptr, QCustomPlot::limAbove);
  s.plot->layer(QStringLiteral("playhead"))->setMode(QCPLayer::lmBuffered);
  s.playhead = new QCPItemLine(s.plot);
  s.playhead->setLayer(QStringLiteral("playhead"));
  s.playhead->setClipToAxisRect(false);
  s.playhead->start->setType(QCPItemPosition::ptAbsolute);
  s.playhead->end->setType(QCPItemPosition::ptAbsolute);
}

}  // namespace parallelarium
