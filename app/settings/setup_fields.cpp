// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/setup_fields.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/resolve.h"

namespace parallelarium {

namespace {

constexpr int kMostTries = 600;

QString whole(std::int64_t value) { return QString::number(value); }
QString real(double value) { return QString::number(value, 'g', 12); }
QString text(const std::string& value) { return QString::fromStdString(value); }

using Getter = QString (*)(const Setup&);

// The JSON form names enumerators; reading it keeps this file free of a second table of names.
QString in_json(const Setup& setup, const char* key) {
  const nlohmann::json json = to_json(setup);
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? text(found->get<std::string>()) : QString();
}

const std::map<std::string, Getter>& getters() {
  static const std::map<std::string, Getter> table{
      {"model", [](const Setup& s) { return text(s.model.name); }},
      {"machine", [](const Setup& s) { return text(s.machine); }},
      {"nodes", [](const Setup& s) { return whole(s.nodes); }},
      {"dp", [](const Setup& s) { return whole(s.mesh.dp); }},
      {"tp", [](const Setup& s) { return whole(s.mesh.tp); }},
      {"pp", [](const Setup& s) { return whole(s.mesh.pp); }},
      {"cp", [](const Setup& s) { return whole(s.mesh.cp); }},
      {"ep", [](const Setup& s) { return whole(s.mesh.ep); }},
      {"sequence-parallel",
       [](const Setup& s) { return QString(s.sequence_parallel ? "true" : "false"); }},
      {"zero", [](const Setup& s) { return whole(s.zero); }},
      {"zero-group", [](const Setup& s) { return whole(s.zero_group); }},
      {"zero-prefetch", [](const Setup& s) { return whole(s.zero_prefetch); }},
      {"precision", [](const Setup& s) { return text(s.precision.name); }},
      {"schedule", [](const Setup& s) { return text(s.schedule); }},
      {"chunks", [](const Setup& s) { return whole(s.chunks); }},
      {"micro-batch", [](const Setup& s) { return whole(s.micro_batch); }},
      {"microbatches", [](const Setup& s) { return whole(s.microbatches); }},
      {"recompute", [](const Setup& s) { return in_json(s, "recompute"); }},
      {"context-parallel", [](const Setup& s) { return in_json(s, "context_parallel"); }},
      {"attention", [](const Setup& s) { return in_json(s, "attention"); }},
      {"collectives", [](const Setup& s) { return text(s.collectives); }},
      {"dropout", [](const Setup& s) { return real(s.dropout); }},
      {"learning-rate", [](const Setup& s) { return real(s.learning_rate); }},
      {"clip", [](const Setup& s) { return real(s.clip); }},
      {"balance-loss", [](const Setup& s) { return real(s.balance_loss); }},
      {"z-loss", [](const Setup& s) { return real(s.z_loss); }},
      {"bias-rate", [](const Setup& s) { return real(s.bias_rate); }},
      {"expert-placement",
       [](const Setup& s) {
         return QString(s.expert_placement == ExpertPlacement::kBlocked ? "blocked"
                                                                        : "round-robin");
       }},
      {"skew", [](const Setup& s) { return real(s.skew); }},
      {"experts", [](const Setup& s) { return whole(s.model.experts.count); }},
      {"top-k", [](const Setup& s) { return whole(s.model.experts.top_k); }},
      {"shared-experts", [](const Setup& s) { return whole(s.model.experts.shared); }},
      {"expert-ffn", [](const Setup& s) { return whole(s.model.experts.ffn); }},
      {"first-dense", [](const Setup& s) { return whole(s.model.experts.first_dense); }},
      {"expert-groups", [](const Setup& s) { return whole(s.model.experts.groups); }},
      {"group-limit", [](const Setup& s) { return whole(s.model.experts.group_limit); }},
      {"capacity", [](const Setup& s) { return real(s.model.experts.capacity); }},
      {"router",
       [](const Setup& s) {
         return QString(s.model.experts.router == Router::kSoftmax ? "softmax" : "sigmoid");
       }},
      {"backend",
       [](const Setup& s) {
         const nlohmann::json json = to_json(s);
         const auto run = json.find("run");
         return run != json.end() && run->contains("backend")
                    ? text(run->at("backend").get<std::string>())
                    : QStringLiteral("auto");
       }},
      {"pace", [](const Setup& s) { return real(s.run.pace_seconds); }},
      {"steps", [](const Setup& s) { return whole(s.run.steps); }},
      {"warmup", [](const Setup& s) { return whole(s.run.warmup); }},
      {"seed", [](const Setup& s) { return QString::number(s.run.seed); }},
      {"text", [](const Setup& s) { return text(s.run.text); }},
      {"devices", [](const Setup& s) { return text(s.run.devices); }},
      {"layers", [](const Setup& s) { return whole(s.model.layers); }},
      {"hidden", [](const Setup& s) { return whole(s.model.hidden); }},
      {"heads", [](const Setup& s) { return whole(s.model.heads); }},
      {"kv-heads", [](const Setup& s) { return whole(s.model.kv_heads); }},
      {"ffn", [](const Setup& s) { return whole(s.model.ffn); }},
      {"vocab", [](const Setup& s) { return whole(s.model.vocab); }},
      {"sequence", [](const Setup& s) { return whole(s.model.sequence); }},
  };
  return table;
}

// How a field steps: by adding, or, where `first` is above 0, by doubling and halving; below
// `first` lies only 0.
struct Stride {
  double add = 1, first = 0;
};
Stride stride_of(const std::string& option) {
  static const std::map<std::string, Stride> strides{
      {"sequence", {0, 1}},         {"hidden", {0, 1}},          {"ffn", {0, 1}},
      {"expert-ffn", {0, 1}},       {"vocab", {0, 1}},           {"pace", {0, 1e-4}},
      {"learning-rate", {0, 1e-6}}, {"balance-loss", {0, 1e-3}}, {"z-loss", {0, 1e-3}},
      {"bias-rate", {0, 1e-3}},     {"capacity", {0.25, 0}},     {"skew", {0.05, 0}},
      {"dropout", {0.05, 0}}};
  const auto found = strides.find(option);
  return found == strides.end() ? Stride{} : found->second;
}

double next_value(const Stride& stride, double value, int direction) {
  if (stride.first == 0) return value + direction * stride.add;
  if (direction > 0) return value > 0 ? value * 2 : stride.first;
  return value > stride.first ? value / 2 : 0;
}

bool accepts(const Setup& setup, const std::string& option, const QString& value) {
  Setup candidate = setup;
  if (!set_field(candidate, option, value.toStdString())) return false;
  const std::string key = key_of(option).toStdString();
  // For which devices `auto` is resolved makes no Setup valid.
  const std::vector<Message> problems = validate(resolve(candidate, Placement()));
  // What was wrong before may stay wrong; this field must not be what is wrong.
  if (validate(resolve(setup, Placement())).empty()) return problems.empty();
  return std::none_of(problems.begin(), problems.end(),
                      [&](const Message& problem) { return problem.field == key; });
}

}  // namespace

QString key_of(const std::string& option) {
  for (const FieldInfo& field : setup_fields())
    if (field.option == option) return text(field.key);
  return text(option);
}

QString field_title(const std::string& option) {
  if (option.size() <= 2) return QString::fromStdString(option).toUpper();  // DP, TP, PP, CP, EP
  if (option == "microbatches") return QObject::tr("Micro-batches");
  if (option == "micro-batch") return QObject::tr("Micro-batch size");
  if (option == "zero") return QObject::tr("ZeRO");
  if (option == "zero-group") return QObject::tr("ZeRO group");
  if (option == "zero-prefetch") return QObject::tr("ZeRO 3 prefetch");
  QString words = QString::fromStdString(option).replace(QLatin1Char('-'), QLatin1Char(' '));
  return words.left(1).toUpper() + words.mid(1);
}

QString field_text(const Setup& setup, const std::string& option) {
  const auto found = getters().find(option);
  return found == getters().end() ? QString() : found->second(setup);
}

QString next_valid(const Setup& setup, const std::string& option, int direction) {
  const Stride stride = stride_of(option);
  double value = field_text(setup, option).toDouble();
  for (int tries = 0; tries < kMostTries; ++tries) {
    const double last = value;
    value = next_value(stride, value, direction);
    if (value < 0 && value > -1e-9) value = 0;  // what sums of 0.05 leave
    if (value < 0 || value == last || value > 1e7) return {};
    const QString candidate = QString::number(value, 'g', 12);
    if (accepts(setup, option, candidate)) return candidate;
  }
  return {};
}

Setup with_fields_of(const Setup& base, const Setup& setup,
                     const std::vector<std::string>& options) {
  Setup result = setup;
  for (const std::string& option : options) {
    if (option == "model") {
      result.model = base.model;
      result.stage_layers = base.stage_layers;
    } else if (option == "sequence") {
      result.model.sequence = base.model.sequence;
    } else {
      // The text of a field is always a value that set_field() reads.
      (void)set_field(result, option, field_text(base, option).toStdString()).ok();
    }
  }
  return result;
}

bool fields_differ(const Setup& a, const Setup& b, const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return field_text(a, option) != field_text(b, option);
  });
}

bool keep_global_batch(Setup& setup, std::int64_t sequences) {
  const std::int64_t each = std::int64_t{setup.mesh.dp} * setup.micro_batch;
  if (each <= 0 || sequences % each != 0 || sequences / each < 1) return false;
  setup.microbatches = static_cast<int>(sequences / each);
  return true;
}

}  // namespace parallelarium
