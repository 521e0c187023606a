// SPDX-License-Identifier: GPL-3.0-or-later
// From the Session to the picture of a collective, and the exported picture.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/collective/collective_session.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/collectives/picture/collective_parts.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

constexpr int kWidth = 1000, kTitle = 40, kFooter = 44;

struct Words {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

// Where the figures come from.
QString footer(const CollectivePicture& picture) {
  const CollectivePlan& plan = *picture.plan;
  QStringList parts{
      Words::tr("%1: %2").arg(prediction_source_text(plan.word), seconds_text(plan.cost.seconds))};
  if (picture.hides_predicted()) parts.clear();
  if (picture.run && !picture.stale && !picture.hides_run())
    parts << Words::tr("%1: %2").arg(source_text(picture.run->seen.source),
                                     seconds_text(picture.run->seen.seconds));
  parts << Words::tr("links: %1, latency %2, %3")
               .arg(in_sentence(title_of(plan.choice.topology),
                                plan.choice.topology == Topology::kTorus),
                    seconds_text(plan.network.latency_seconds),
                    rate_text(plan.network.bytes_per_second));
  return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace

CollectiveHidden hidden_of_collective(const Session& session) {
  const auto hides = [&](const char* key) { return session.locks().hidden(QLatin1String(key)); };
  CollectiveHidden hidden;
  hidden.predicted = hides("lane.predicted");
  hidden.run = hides("lane.run");
  hidden.seconds = hides("collective.seconds");
  hidden.algorithm_bandwidth = hides("collective.algorithm_bandwidth");
  hidden.bus_bandwidth = hides("collective.bus_bandwidth");
  hidden.sent_bytes = hides("collective.sent_bytes.*");
  hidden.steps = hides("collective.steps");
  hidden.formulas = hides("formulas");
  hidden.times =
      hidden.seconds || hidden.algorithm_bandwidth || hidden.bus_bandwidth || hidden.steps;
  return hidden;
}

CollectivePicture collective_picture(const Session& session) {
  const CollectiveSession& collectives = session.collectives();
  CollectivePicture picture;
  picture.plan = collectives.plan();
  picture.predicted =
      std::make_shared<const CollectiveMotion>(picture.plan, picture.plan->cost.timeline);
  picture.run = collectives.run();
  picture.stale = collectives.run_is_stale();
  picture.times_compare = collectives.times_compare();
  if (picture.run && !picture.stale && picture.times_compare)
    picture.observed =
        std::make_shared<const CollectiveMotion>(picture.run->plan, picture.run->seen.timeline);
  picture.playhead = collectives.playhead();
  picture.tweened = !session.playback().reduced_motion();
  picture.dimmed = collectives.problem().has_value();
  picture.wanted = collectives.content();
  picture.hidden = hidden_of_collective(session);
  picture.sweep = collectives.sweep();
  picture.selected = collectives.selected();
  if (collectives.shows_parts()) picture.parts = reduce_scatter_then_all_gather(*picture.plan);
  picture.lines = std::make_shared<const BandwidthLines>(bandwidth_lines(picture.plan->choice));
  return picture;
}

QSize collective_picture_size(const Session& session) {
  CollectivePicture picture;
  picture.plan = session.collectives().plan();
  return {kWidth, kTitle + int(collective_height(picture, kWidth)) + 90 + kFooter};
}

void paint_collective_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                              TextLog* texts) {
  const Theme& theme = dark ? dark_theme() : light_theme();
  CollectivePicture picture = collective_picture(session);
  picture.selected = {};
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
  put_elided(painter, QRectF(16, 10, size.width() - 32, 24), Qt::AlignVCenter,
             collective_title(picture.plan->collective.spec), theme.font(14, true), theme.text,
             texts);
  const QSizeF inner(size.width(), size.height() - kTitle - kFooter);
  painter.translate(0, kTitle);
  paint_collective(painter, picture, collective_layout(picture, inner), theme, texts);
  painter.translate(0, -kTitle);
  const double y = size.height() - kFooter + 8;
  painter.fillRect(QRectF(16, y, size.width() - 32, 1), theme.hairline);
  const QFont small = theme.font(11);
  const QString maker = QObject::tr("Parallelarium");
  const double taken = QFontMetricsF(small).horizontalAdvance(maker) + 16;
  put_elided(painter, QRectF(16, y + 6, size.width() - 32 - taken, 16), Qt::AlignVCenter,
             footer(picture), small, theme.muted, texts);
  put_text(painter, QRectF(16, y + 6, size.width() - 32, 16), Qt::AlignVCenter | Qt::AlignRight,
           maker, small, theme.muted, texts);
  painter.restore();
}

}  // namespace parallelarium
