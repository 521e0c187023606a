// SPDX-License-Identifier: GPL-3.0-or-later
// The links' figures in the Collectives view: those of this computer are only told, others have
// controls.
#include <QRegularExpression>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/collectives/collectives_state.h"
#include "engine/plan/text/durations.h"

namespace parallelarium {
namespace {

constexpr double kMostLatency = 10, kLeastRate = 1e3, kMostRate = 1e15;

// The number and the unit of "1.5 us"; nothing where it is no number.
std::optional<std::pair<double, QString>> number_and_unit(const QString& text) {
  static const QRegularExpression form(
      QStringLiteral("^\\s*(\\d[\\d.,]*(?:[eE][+-]?\\d+)?)\\s*([^\\d\\s]*)\\s*$"));
  const auto match = form.match(QString(text).replace(QChar(0x00a0), QLatin1Char(' ')));
  if (!match.hasMatch()) return std::nullopt;
  // As the screen writes it ("1,200 GB/s"), else with either decimal mark.
  bool read = false;
  double number = QLocale().toDouble(match.captured(1), &read);
  if (!read) number = match.captured(1).replace(QLatin1Char(','), QLatin1Char('.')).toDouble(&read);
  return read ? std::optional(std::pair(number, match.captured(2))) : std::nullopt;
}

// The next of 1, 2, 5, 10, ... in a direction.
double next_round(double value, int direction) {
  if (value <= 0) return direction > 0 ? 1e-9 : 0;
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  if (direction > 0) {
    for (const double digit : {1.0, 2.0, 5.0})
      if (digit * power > value * 1.001) return digit * power;
    return 10 * power;
  }
  for (const double digit : {5.0, 2.0, 1.0})
    if (digit * power < value * 0.999) return digit * power;
  return power / 2;
}

}  // namespace

std::optional<double> seconds_from_text(const QString& text) {
  const auto read = number_and_unit(text);
  if (!read) return std::nullopt;
  const auto& [number, unit] = *read;
  for (const TypedUnit& each : kTimeUnits)
    if (unit == QString::fromUtf8(each.name)) return number * each.size;
  return unit.isEmpty() ? std::optional(number) : std::nullopt;
}

std::optional<double> rate_from_text(const QString& text) {
  const auto read = number_and_unit(text);
  if (!read) return std::nullopt;
  QString unit = read->second;
  if (unit.endsWith(QLatin1String("/s"))) unit.chop(2);
  for (const auto& [name, scale] :
       {std::pair("", 1.0), {"B", 1.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}})
    if (unit == QLatin1String(name)) return read->first * scale;
  return std::nullopt;
}

QString LinkControl::text(const Network& network) const {
  return is_latency ? seconds_text(network.*used) : rate_text(network.*used);
}

void CollectivesView::build_link_controls() {
  State& s = *state_;
  const LinkControl wanted[] = {
      {"latency_seconds", &LinkFigures::latency_seconds, &Network::latency_seconds, true, false},
      {"bytes_per_second", &LinkFigures::bytes_per_second, &Network::bytes_per_second, false,
       false},
      {"node_latency_seconds", &LinkFigures::node_latency_seconds, &Network::node_latency_seconds,
       true, true},
      {"node_bytes_per_second", &LinkFigures::node_bytes_per_second,
       &Network::node_bytes_per_second, false, true}};
  for (const LinkControl& made : wanted) {
    LinkControl& link = s.links.emplace_back(made);
    const QString name = link.is_latency
                             ? link.between_nodes ? tr("Latency between nodes") : tr("Latency")
                         : link.between_nodes ? tr("Bandwidth of a node")
                                              : tr("Bandwidth");
    link.box = new StepBox(
        name,
        [this, made](int direction) {
          const double now = state_->collectives.plan()->network.*made.used;
          const double next = next_round(now, direction);
          if (made.is_latency) return next > kMostLatency ? QString() : seconds_text(next);
          return next < kLeastRate || next > kMostRate ? QString() : rate_text(next);
        },
        s.head);
    link.label =
        new QLabel(link.between_nodes ? (link.is_latency ? tr("nodes") : QString()) : name, s.head);
    link.label->setProperty("role", "muted");
    link.label->setBuddy(link.box);
    connect(link.box, &StepBox::committed, this, [this, made, name](const QString& text) {
      const Network& now = state_->collectives.plan()->network;
      // The text of what is set says three digits of it: it is no change.
      if (text == made.text(now)) return;
      std::optional<double> value =
          made.is_latency ? seconds_from_text(text) : rate_from_text(text);
      const bool good = value && (made.is_latency ? *value <= kMostLatency
                                                  : *value >= kLeastRate && *value <= kMostRate);
      if (good || text.trimmed().isEmpty())
        change(good ? tr("%1 %2").arg(name, text) : tr("%1 as assumed").arg(name),
               [&](CollectiveChoice& choice) { choice.links.*made.figure = value; });
      refresh_controls();
    });
  }
  s.links_word = new QLabel(s.head);
  s.links_word->setProperty("role", "muted");
}

void CollectivesView::refresh_link_controls() {
  State& s = *state_;
  const CollectivePlan& plan = *s.collectives.plan();
  const CollectiveChoice& choice = plan.choice;
  const bool memory = choice.topology == Topology::kMemory;
  const bool calibrated = plan.word == "calibrated";
  const QString origin =
      !memory      ? tr("An empty text takes the assumed figure again")
      : calibrated ? tr("Measured by the last calibration of this computer; choose other links to "
                        "set theirs")
      : choice.gpus > 0
          ? tr("Figures of this computer's GPUs, assumed until they are calibrated; "
               "choose other links to set theirs")
          : tr("Figures of this computer, assumed until it is calibrated, which the first "
               "Run of a training step does; choose other links to set theirs");
  for (const LinkControl& link : s.links) {
    const bool shown = !memory && (!link.between_nodes || choice.topology == Topology::kTwoLevel);
    link.label->setVisible(shown && !link.label->text().isEmpty());
    link.box->setVisible(shown);
    link.box->set_text(link.text(plan.network));
    link.box->setEnabled(!memory && s.session.locks().allowed(QStringLiteral("collective.") +
                                                              QLatin1String(link.key)));
    link.box->set_changed((choice.links.*link.figure).has_value());
    link.box->setToolTip(origin);
  }
  const QString own =
      choice.gpus > 0 ? (calibrated ? tr("GPUs: %1, %2, calibrated") : tr("GPUs: %1, %2, assumed"))
                      : (calibrated ? tr("%1, %2, calibrated") : tr("%1, %2, assumed"));
  s.links_word->setText(memory ? own.arg(seconds_text(plan.network.latency_seconds),
                                         rate_text(plan.network.bytes_per_second))
                        : choice.links == LinkFigures{} ? tr("assumed")
                                                        : tr("set here"));
  s.links_word->setToolTip(origin);
}

}  // namespace parallelarium
