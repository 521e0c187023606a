// SPDX-License-Identifier: GPL-3.0-or-later
// The formulas that the panel shows of a layer's steps, computed again from what is set: letters
// and numbers both give the FLOPs and bytes that the Program has.
#include <gtest/gtest.h>

#include <QRegularExpression>
#include <map>

#include "app/views/layer/layer_view.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

using FormulaFields = std::vector<std::pair<const char*, const char*>>;
const std::vector<FormulaFields> kFormulaSetups = {
    {{"pp", "1"}},
    {{"pp", "1"}, {"tp", "2"}},
    {{"pp", "1"}, {"tp", "4"}, {"sequence-parallel", "on"}},
    {{"pp", "1"}, {"tp", "4"}, {"kv-heads", "2"}},
    {{"pp", "1"}, {"cp", "2"}, {"attention", "fused"}},
    {{"pp", "1"}, {"tp", "2"}, {"cp", "2"}, {"micro-batch", "2"}},
    {{"pp", "1"}, {"cp", "2"}, {"context-parallel", "all-gather"}},
    {{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}, {"ring-tensor", "on"}},
    {{"pp", "1"}, {"tp", "2"}, {"model", "llama-tiny"}}};

// "2 · b s · h · f / t", "2 (t − 1)/t · b s h · 4 B", "2 · 128 · (16 + 16)"
double value_of(QString text, const std::map<QString, double>& letters) {
  text.remove(QStringLiteral("\u00a0B")).remove(QLatin1Char(','));
  for (const auto& [letter, value] : letters)
    text.replace(QRegularExpression(QStringLiteral("\\b%1\\b").arg(letter)),
                 QString::number(value));
  double product = 1;
  for (const QString& factor : text.split(QStringLiteral(" \u00b7 "))) {
    double all = 1;
    QString rest = factor;
    static const QRegularExpression group(QStringLiteral("\\(([^)]*)\\)"));
    for (auto found = group.match(rest); found.hasMatch(); found = group.match(rest)) {
      const QString inner = found.captured(1);
      const bool minus = inner.contains(QChar(0x2212));
      double sum = 0;
      for (const QString& each :
           inner.split(minus ? QStringLiteral(" \u2212 ") : QStringLiteral(" + ")))
        sum = minus && sum != 0 ? sum - each.toDouble() : sum + each.toDouble();
      all *= sum;
      rest.remove(found.capturedStart(), found.capturedLength());
    }
    const QStringList parts = rest.split(QLatin1Char('/'));
    for (int part = 0; part < parts.size(); ++part)
      for (const QString& number : parts[part].split(QLatin1Char(' '), Qt::SkipEmptyParts))
        all = part == 0 ? all * number.toDouble() : all / number.toDouble();
    product *= all;
  }
  return product;
}

TEST(LayerFormulas, LettersAndNumbersGiveTheFlopsAndBytesOfTheProgram) {
  int products = 0, sent = 0, lettered = 0;
  for (const FormulaFields& fields : kFormulaSetups)
    for (const bool backward : {false, true})
      for (const LayerPlace place : {LayerPlace::kLayer, LayerPlace::kHead}) {
        Session session;
        parallelarium::Setup setup = session.setup();
        for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value));
        session.history().change(setup, QStringLiteral("set"));
        session.wait_for_prediction();
        const parallelarium::Setup& now = session.subject().prediction()->setup;
        const std::map<QString, double> letters = {
            {"b", double(now.micro_batch)},  {"s", double(now.model.sequence)},
            {"h", double(now.model.hidden)}, {"f", double(now.model.ffn)},
            {"V", double(now.model.vocab)},  {"t", double(now.mesh.tp)},
            {"c", double(now.mesh.cp)}};
        LayerLook look;
        look.choice.backward = backward;
        look.choice.place = place;
        const LayerPicture picture = layer_picture(session, look);
        for (int step = 0; step < int(picture.layer->steps.size()); ++step)
          for (int rank = 0; rank < int(picture.layer->ranks.size()); ++rank) {
            const LayerStep& of = picture.layer->steps[std::size_t(step)];
            const LayerRankStep& part = of.ranks[std::size_t(rank)];
            for (const bool flops : {true, false}) {
              const QString text = flops ? layer_flops_formula(picture, step, rank)
                                         : layer_sent_formula(picture, step, rank);
              if (text.isEmpty()) continue;
              QStringList sides = text.split(QStringLiteral(" = "));
              ASSERT_GE(sides.size(), 2);
              sides.removeLast();
              for (const QString& side : sides)
                EXPECT_DOUBLE_EQ(value_of(side, letters),
                                 flops ? part.flops : double(part.sent_bytes))
                    << text.toStdString();
              lettered += sides.size() == 2;
              ++(flops ? products : sent);
            }
            const bool multiplies = of.piece == Piece::kMlpIn || of.piece == Piece::kMlpOut;
            if (of.kind == LayerStepKind::kCompute && multiplies && of.blocks == 1) {
              EXPECT_FALSE(layer_flops_formula(picture, step, rank).isEmpty())
                  << layer_step_name(of).toStdString();
            }
          }
      }
  EXPECT_GT(products, 200);
  EXPECT_GT(sent, 40);
  EXPECT_GT(lettered, 200);
}

TEST(LayerFormulas, AProductIsWrittenAsOne) {
  Session session;
  parallelarium::Setup setup = session.setup();
  for (const auto& [field, value] : FormulaFields{{"pp", "1"}, {"tp", "2"}})
    ASSERT_TRUE(set_field(setup, field, value));
  session.history().change(setup, QStringLiteral("set"));
  session.wait_for_prediction();
  QStringList all;
  for (const bool backward : {false, true}) {
    LayerLook look;
    look.choice.backward = backward;
    const LayerPicture picture = layer_picture(session, look);
    for (const LayerStep& step : picture.layer->steps)
      if (step.kind == LayerStepKind::kCompute) all << layer_algebra_text(step, step.ranks.front());
  }
  for (const char* text :
       {"y [128 \u00d7 64] \u00d7 w [64 \u00d7 128 of 256] = u [128 \u00d7 128 of 256]",
        "softmax(q [128 \u00d7 32 of 64] \u00d7 k\u1d40 [32 of 64 \u00d7 128]) \u00d7 v [128 "
        "\u00d7 32 of 64] = "
        "context [128 \u00d7 32 of 64]",
        "x [128 \u00d7 64] + branch [128 \u00d7 64] = sum [128 \u00d7 64]",
        "du [128 \u00d7 128 of 256] \u00d7 w\u1d40 [128 of 256 \u00d7 64] = dy [128 \u00d7 64]",
        "y\u1d40 [64 \u00d7 128] \u00d7 du [128 \u00d7 128 of 256] = dw [64 \u00d7 128 of 256]"})
    EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                            [&](const QString& each) {
                              return each.contains(QString::fromUtf8(text)) ||
                                     each.endsWith(QString::fromUtf8(text));
                            }))
        << text << " is not in\n"
        << all.join(QLatin1Char('\n')).toStdString();
}

}  // namespace
}  // namespace parallelarium
