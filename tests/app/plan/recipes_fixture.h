// SPDX-License-Identifier: GPL-3.0-or-later
// Launch lines in the window: a line, and the sheets that are open.
#pragma once

#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>

#include "app/state/plan/plan_search.h"
#include "tests/app/plan/plan_views_fixture.h"

namespace parallelarium {

inline constexpr char kRecipeLine[] =
    "torchrun --nnodes 1 --nproc-per-node 4 pretrain_gpt.py --num-layers 12 --hidden-size 768 "
    "--num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 "
    "--tensor-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 16 --bf16 "
    "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1";

class Recipes : public PlanViewFixture {
 protected:
  template <class Sheet>
  Sheet* sheet() {
    QApplication::processEvents();
    for (Sheet* each : window->findChildren<Sheet*>())
      if (each->isVisible()) return each;
    ADD_FAILURE() << "no sheet is open";
    return nullptr;
  }
  QPushButton* button(QWidget* in, const QString& text) {
    for (auto* button : in->findChildren<QPushButton*>())
      if (button->text().remove(QLatin1Char('&')) == text && button->isVisibleTo(in)) return button;
    ADD_FAILURE() << "no button " << text.toStdString();
    return nullptr;
  }
  void trigger(const QString& text) {
    for (QAction* action : window->all_actions())
      if (action->text().remove(QLatin1Char('&')) == text) return action->trigger();
    ADD_FAILURE() << "no command " << text.toStdString();
  }
  QString file(const char* name, const QByteArray& text) {
    const QString path = folder_.filePath(QLatin1String(name));
    QFile written(path);
    EXPECT_TRUE(written.open(QIODevice::WriteOnly));
    written.write(text);
    return path;
  }
  void drop(const QString& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &event);
    QApplication::processEvents();
  }
  PlanSearch& search() { return PlanSearch::of(session()); }

 private:
  QTemporaryDir folder_;
};

}  // namespace parallelarium
