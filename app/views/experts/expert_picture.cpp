// SPDX-License-Identifier: GPL-3.0-or-later
// From the Session to the picture of a layer with experts, and the exported picture.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/run/run_advice.h"
#include "app/views/experts/experts_view.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

constexpr int kWidth = 1000, kPictureTitle = 8, kFooter = 52;

struct PictureWords {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

// Why no run stands below the prediction.
QString no_run_text(const Session& session) {
  if (session.runs().current() && session.runs().current_is_stale())
    return PictureWords::tr("Not run: the last run is of other settings");
  const QString refusal = run_refusal(session);
  return refusal.isEmpty() ? PictureWords::tr("Not run yet: press %1 to see your ranks do it")
                                 .arg(run_verb(session))
                           : PictureWords::tr("Not run: %1").arg(refusal);
}

}  // namespace

std::shared_ptr<const std::vector<BalanceCurve>> balance_curves(const Session& session,
                                                                ExpertChoice choice) {
  const Observation* run = routed_run(session);
  if (!run) return nullptr;
  std::vector<BalanceCurve> curves;
  const RunRecord* pinned = session.runs().pinned();
  const Observation* earlier =
      pinned && pinned->observed() && !(pinned->observation.setup == run->setup)
          ? &pinned->observation
          : nullptr;
  const auto add = [&](const Observation& of, const Observation* other, const QString& name) {
    if (of.setup.model.experts.count == 0 ||
        valid_choice(of.setup, choice).layer != valid_choice(run->setup, choice).layer)
      return;
    std::vector<LayerBalance> steps = balance_by_step(of, choice);
    const QString words = other ? routing_difference(of.setup, other->setup) : QString();
    if (steps.size() > 1)
      curves.push_back({words.isEmpty() ? name : PictureWords::tr("%1, %2").arg(name, words),
                        &of == earlier, std::move(steps)});
  };
  add(*run, earlier, PictureWords::tr("run"));
  if (earlier && !curves.empty()) add(*earlier, run, PictureWords::tr("pinned run"));
  if (curves.empty()) return nullptr;
  return std::make_shared<const std::vector<BalanceCurve>>(std::move(curves));
}

void add_run(ExpertPicture& picture, const Session& session, ExpertChoice choice) {
  const std::shared_ptr<const Prediction> prediction = session.subject().prediction();
  picture.dimmed = !session.problems().empty();
  // A figure that a lesson asks for can be read off any part of the picture.
  const QStringList keys = session.locks().hidden_keys();
  picture.hidden = session.locks().hidden(QStringLiteral("lane.predicted")) ||
                   std::any_of(keys.begin(), keys.end(), [](const QString& key) {
                     return key.startsWith(QLatin1String("experts"));
                   });
  picture.hides_times = session.locks().hidden_of_ops().times;
  picture.tweened = !session.playback().reduced_motion();
  picture.playhead = session.playback().playhead();
  picture.predicted_word = prediction_source_text(prediction->word);
  picture.no_run = no_run_text(session);
  if (!picture.routed) return;
  if (const Observation* run = routed_run(session)) {
    picture.prefers_predicted = choice.predicted;
    picture.steps = int(run->routing.size());
    picture.step = training_step(*run, choice.step);
    picture.timed_step = training_step(*run, -1);
    if (Result<RoutedLayer> seen = counted(*run, choice))
      picture.counted = std::make_shared<const RoutedLayer>(std::move(*seen));
  }
  const auto times_of = [&](const Prediction& of, const Timeline& timeline) {
    std::optional<LayerTimes> times = layer_times(of, timeline, *picture.routed);
    return times ? std::make_shared<const LayerTimes>(std::move(*times)) : nullptr;
  };
  picture.predicted = times_of(*prediction, prediction->timeline);
  if (!picture.predicted)
    picture.no_prediction =
        prediction->program.level == Level::kStage
            ? PictureWords::tr(
                  "A program of this size is made of whole stages; its layers have no times.")
            : PictureWords::tr("There are no times of this layer.");
  const RunRecord* run = session.runs().current();
  if (!run || !run->observed() || session.runs().current_is_stale() ||
      session.locks().hidden(QStringLiteral("lane.run")))
    return;
  picture.observed = times_of(*run->prediction, run->observation.timeline);
  if (!run->routed || choice.predicted) return;
  picture.predicted = times_of(*run->routed, run->routed->timeline);
  picture.predicted_word = prediction_source_text(run->routed->word);
  picture.by_its_routing = true;
}

ExpertPicture expert_picture(const Session& session, ExpertChoice choice) {
  ExpertPicture picture;
  Result<RoutedLayer> made = routed(session.subject().prediction()->setup, choice);
  if (made)
    picture.routed = std::make_shared<const RoutedLayer>(std::move(*made));
  else
    picture.empty = sentence(made.error());
  add_run(picture, session, choice);
  picture.curves = balance_curves(session, choice);
  return picture;
}

QSize expert_picture_size(const Session& session, ExpertChoice choice) {
  return {kWidth, kPictureTitle + kFooter + 24 +
                      int(std::ceil(expert_height(expert_picture(session, choice), kWidth)))};
}

void paint_expert_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                          ExpertChoice choice, TextLog* texts) {
  const Theme& theme = dark ? dark_theme() : light_theme();
  const ExpertPicture picture = expert_picture(session, choice);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
  painter.translate(0, kPictureTitle);
  const QSizeF inner(size.width(), size.height() - kPictureTitle - kFooter);
  paint_experts(painter, picture, expert_layout(picture, inner), theme, texts);
  painter.translate(0, -kPictureTitle);
  const double y = size.height() - kFooter + 8;
  painter.fillRect(QRectF(16, y, size.width() - 32, 1), theme.hairline);
  const QFont small = theme.font(11);
  const QString maker = QObject::tr("Parallelarium");
  const double taken = QFontMetricsF(small).horizontalAdvance(maker) + 16;
  const Setup& setup = session.subject().prediction()->setup;
  put_elided(painter, QRectF(16, y + 5, size.width() - 32, 16), Qt::AlignVCenter,
             setup_footer(setup) + QStringLiteral(" \u00b7 ") +
                 PictureWords::tr("skew %1").arg(number_text(setup.skew)),
             small, theme.muted, texts);
  put_elided(painter, QRectF(16, y + 21, size.width() - 32 - taken, 16), Qt::AlignVCenter,
             machine_footer(*session.subject().prediction()), small, theme.muted, texts);
  put_text(painter, QRectF(16, y + 21, size.width() - 32, 16), Qt::AlignVCenter | Qt::AlignRight,
           maker, small, theme.muted, texts);
  painter.restore();
}

}  // namespace parallelarium
