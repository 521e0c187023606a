// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/words_sheet.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "app/settings/controls.h"
#include "app/shell/scroll_hint.h"

namespace parallelarium {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(glossary)
};

}  // namespace

std::vector<WordMeaning> word_meanings() {
  std::vector<WordMeaning> words{
      {Words::tr("rank"),
       Words::tr("One process that trains together with others; here on a core or a GPU of this "
                 "computer.")},
      {Words::tr("stage"),
       Words::tr("Consecutive layers that a pipeline computes as one step. A rank holds one of "
                 "them, or several where the schedule has chunks.")},
      {Words::tr("micro-batch, m"),
       Words::tr("A part of the batch that goes through the pipeline by itself; m is how many "
                 "there are.")},
      {Words::tr("p"), Words::tr("The number of stages of the pipeline.")},
      {Words::tr("training step"),
       Words::tr("All forwards, backwards and one update of the parameters. The timeline shows one "
                 "of them.")},
      {Words::tr("bubble"), Words::tr("Time in which a rank waits: hatched in the timeline.")},
      {Words::tr("bubble of whole step"),
       Words::tr("Waiting divided by the whole step, waiting and work.")},
      {Words::tr("bubble over ideal time"), Words::tr("Waiting divided by work alone.")},
      {Words::tr("naive, GPipe, 1F1B"),
       Words::tr("Orders of work in a pipeline. Naive: one batch at a time. GPipe: all forwards, "
                 "then all backwards. 1F1B: one forward, one backward in turn, which keeps fewer "
                 "micro-batches in memory.")},
      {Words::tr("predicted"),
       Words::tr("Computed from the settings before anything runs, with transfers and waiting."),
       "predicted"},
      {Words::tr("assumed rates"),
       Words::tr("The prediction uses rates that were not measured here yet; the first run "
                 "measures this computer.")},
      {Words::tr("calibrated"),
       Words::tr("The prediction uses rates that were measured on this computer.")},
      {Words::tr("measured"),
       Words::tr("Seen in a run whose ranks each had a core or GPU of their own."), "measured"},
      {Words::tr("rehearsed"),
       Words::tr("Seen in a rehearsal, which needs fewer cores than ranks. Arithmetic, messages, "
                 "waiting, bytes and loss are real; how long an operation lasts is set, by the "
                 "prediction. All times are those of the machine that is acted out."),
       "paced"},
      {Words::tr("durations set, 1:10"),
       Words::tr("The rehearsal took ten seconds of the clock for each second of the machine.")},
      {Words::tr("set"),
       Words::tr("This time of a rehearsal follows from the prediction and says nothing about "
                 "speed, so it is not compared.")},
      {Words::tr("oversubscribed"),
       Words::tr("Seen in a run whose ranks shared cores: its times are no evidence of speed."),
       "oversubscribed"},
      {Words::tr("counted"), Words::tr("Bytes that the ranks themselves counted while running.")},
      {Words::tr("pt"), Words::tr("Percentage points: from 33 % to 35 % is 2 pt.")},
      {Words::tr("57× slower"),
       Words::tr("The screen plays the step that many times slower than it ran.")},
      {Words::tr("Prove it"),
       Words::tr("Repeats the run on one rank and compares losses and gradients. Before that, the "
                 "loss of one rank reads “–”.")},
      {Words::tr("Pin"),
       Words::tr("Keeps the present run or prediction in the picture, to compare what comes "
                 "after.")},
      {Words::tr("DP, TP, PP, CP, EP"),
       Words::tr("Ways to divide training: data (each rank its own sequences), tensor (each matrix "
                 "product), pipeline (the layers), context (each sequence), expert (the experts of "
                 "a mixture).")},
      {Words::tr("collective"),
       Words::tr("A pattern in which all ranks of a group exchange data: all-reduce, all-gather, "
                 "reduce-scatter, all-to-all, broadcast, scatter, gather, reduce.")},
      {Words::tr("chunk"), Words::tr("A part of the array that a collective passes on by itself.")},
      {Words::tr("algorithm bandwidth"),
       Words::tr("Size of the array divided by the time of the collective.")},
      {Words::tr("bus bandwidth"),
       Words::tr("Algorithm bandwidth times a factor of the operation and the number of ranks, so "
                 "that it can be compared with the rate of a link.")},
      {Words::tr("ZeRO"),
       Words::tr("Ranks that hold the same parameters share out optimizer state (1), gradients (2) "
                 "and parameters (3) in place of keeping copies."),
       "zero"},
      {Words::tr("dispatch, combine"),
       Words::tr("The two exchanges of a layer with experts: tokens travel to the ranks of their "
                 "experts, and the results travel back.")},
      {Words::tr("capacity"),
       Words::tr("The most tokens that an expert takes of one micro-batch of one data-parallel "
                 "rank; what comes later is dropped and passes the layer unchanged.")},
      {Words::tr("balance loss"),
       Words::tr("A term of the loss that is least when all experts get equally many tokens: α "
                 "when even.")},
      {Words::tr("skew"),
       Words::tr("The share of the tokens that is sent to expert 0 on purpose, to see what an "
                 "uneven routing costs.")},
      {Words::tr("recompute"),
       Words::tr("Activations are computed again in the backward in place of being kept.")},
      {Words::tr("loss"), Words::tr("How wrong the model's predictions of the text are; training "
                                    "makes it smaller.")},
  };
  std::sort(words.begin(), words.end(), [](const WordMeaning& a, const WordMeaning& b) {
    return a.word.compare(b.word, Qt::CaseInsensitive) < 0;
  });
  return words;
}

QString meaning_of(std::string_view id) {
  for (const WordMeaning& entry : word_meanings())
    if (!id.empty() && entry.id == id) return entry.meaning;
  return {};
}

WordsSheet::WordsSheet(QWidget* parent) : Sheet(parent) {
  setWindowTitle(tr("Words"));
  resize(640, 488);
  auto* column = new QVBoxLayout(this);
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  auto* grid = new QGridLayout(content);
  grid->setColumnStretch(1, 1);
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(8);
  int row = 0;
  for (const WordMeaning& entry : word_meanings()) {
    auto* word = new QLabel(entry.word, content);
    word->setObjectName(QStringLiteral("Strong"));
    grid->addWidget(word, row, 0, Qt::AlignTop);
    auto* meaning = new QLabel(entry.meaning, content);
    meaning->setWordWrap(true);
    meaning->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid->addWidget(meaning, row++, 1);
  }
  grid->setRowStretch(row, 1);
  area->setWidget(content);
  add_scroll_hint(*area);
  column->addWidget(area);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

}  // namespace parallelarium
