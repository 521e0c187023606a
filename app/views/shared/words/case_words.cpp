// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/words/case_words.h"

#include <QCoreApplication>
#include <cmath>

#include "app/look/figures.h"

namespace parallelarium {

namespace {

struct Metrics {
  Q_DECLARE_TR_FUNCTIONS(cases)
};

}  // namespace

QString metric_text(const std::string& metric) {
  const std::pair<const char*, QString> words[] = {
      {"step_seconds", Metrics::tr("step")},
      {"tokens_per_second_per_rank", Metrics::tr("tokens per GPU")},
      {"mfu_causal_percent", Metrics::tr("MFU, causal")},
      {"layer_forward_ms", Metrics::tr("forward of a layer")},
      {"layer_backward_ms", Metrics::tr("backward of a layer")},
      {"peak_gib", Metrics::tr("peak memory")},
      {"framework_peak_gib", Metrics::tr("peak memory with framework")},
      {"states_gib", Metrics::tr("model states")},
      {"parameters_billion", Metrics::tr("parameters")},
      {"first_stage_activations_gib", Metrics::tr("activations of stage 0")},
      {"layer_activations_mib", Metrics::tr("activations of a layer")}};
  for (const auto& [name, word] : words)
    if (metric == name) return word;
  return QString::fromStdString(metric);
}

QString case_text(const std::string& words) {
  return QCoreApplication::translate("published", words.c_str());
}

QString metric_value_text(const std::string& metric, double value) {
  return number_text(value) + QChar(0x00a0) + QLatin1String(metric_of({metric, value}).unit);
}

QString error_text(double error) {
  const double tenths = std::round(1000 * error);
  const QString sign = tenths == 0  ? QString()
                       : tenths < 0 ? QString(QChar(0x2212))
                                    : QStringLiteral("+");
  return sign + QLocale().toString(std::abs(tenths) / 10, 'f', 1) + QChar(0x00a0) +
         QLatin1Char('%');
}

}  // namespace parallelarium
