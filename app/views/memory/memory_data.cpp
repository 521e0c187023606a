// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/memory_data.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "engine/passes/build.h"
#include "engine/predict/memory.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

struct Memory {
  Q_DECLARE_TR_FUNCTIONS(memory)
};

}  // namespace

QString category_text(Category category) {
  switch (category) {
    case Category::kParameters:
      return Memory::tr("Parameters");
    case Category::kGradients:
      return Memory::tr("Gradients");
    case Category::kOptimizer:
      return Memory::tr("Optimizer");
    case Category::kActivations:
      return Memory::tr("Activations");
    case Category::kBuffers:
      return Memory::tr("Buffers");
  }
  return {};
}

QString rank_text(const Program& program, int rank_index) {
  if (rank_index < 0 || rank_index >= int(program.ranks.size())) return {};
  const RankProgram& rank = program.ranks[std::size_t(rank_index)];
  return Memory::tr("Rank %1 \u00b7 stage %2").arg(rank.rank).arg(rank.stage);
}

PeakParts peak_parts(const Program& program, const RankProgram& rank) {
  PeakParts peak;
  for_held_bytes(program, rank, [&](const HeldBytes& held) {
    if (const std::int64_t all = held.sum(); held.op < 0 || all > peak.total)
      peak = {held.at_peak, all, held.op};
  });
  return peak;
}

CountedParts counted_parts(const MemoryRow& counted, const MemoryRow& planned,
                           const PeakParts& plan) {
  CountedParts parts;
  parts.total = counted.peak_bytes;
  parts.equals_plan = counted.peak_bytes == planned.peak_bytes &&
                      std::equal(counted.bytes, counted.bytes + kCategories, planned.bytes);
  if (parts.equals_plan || counted.peak_bytes >= plan.total) {
    parts.parts = plan.parts;
    parts.unexplained = counted.peak_bytes - plan.total;
  } else {
    parts.unexplained = counted.peak_bytes;
  }
  return parts;
}

const RunRecord* run_of(const Session& session, const Setup& setup) {
  const RunRecord* found = nullptr;
  for (const RunRecord& run : session.runs().shown())
    if (run.observed() && run.observation.setup == setup) found = &run;
  return found;
}

bool ZeroPlans::holds(const Setup& setup) const {
  if (!setup_) return false;
  Setup same = setup;
  same.zero = setup_->zero;
  return same == *setup_;
}

std::vector<ZeroPlans::Plan> ZeroPlans::compute(const Setup& setup) {
  std::vector<Plan> plans(4);
  for (int zero = 0; zero < 4; ++zero) {
    Plan& plan = plans[std::size_t(zero)];
    plan.zero = zero;
    Setup other = setup;
    other.zero = zero;
    const auto refuse = [&](const Message& why) { plan.refusal = sentence(why); };
    const std::vector<Message> wrong = validate(other);
    if (!wrong.empty()) {
      refuse(wrong.front());
      continue;
    }
    const Result<Order> order = make_order(other);
    if (!order) {
      refuse(order.error());
      continue;
    }
    const Result<Program> program = build_program(other, *order);
    if (!program) {
      refuse(program.error());
      continue;
    }
    plan.rows = memory_of(*program);
    for (const RankProgram& rank : program->ranks) plan.peaks.push_back(peak_parts(*program, rank));
  }
  return plans;
}

void ZeroPlans::keep(const Setup& setup, std::vector<Plan> plans) {
  setup_ = setup;
  plans_ = std::move(plans);
}

std::vector<ZeroColumn> ZeroPlans::columns(const Session& session, int rank_index) const {
  const Prediction& shown = *session.subject().prediction();
  const bool known = holds(shown.setup);
  const int rank = rank_index < int(shown.program.ranks.size())
                       ? shown.program.ranks[std::size_t(rank_index)].rank
                       : 0;
  std::vector<ZeroColumn> columns(4);
  for (int zero = 0; zero < 4; ++zero) {
    ZeroColumn& column = columns[std::size_t(zero)];
    column.zero = zero;
    column.is_set = zero == shown.setup.zero;
    std::optional<MemoryRow> row;
    if (column.is_set && rank_index < int(shown.program.ranks.size())) {
      column.planned = peak_parts(shown.program, shown.program.ranks[std::size_t(rank_index)]);
      row = memory_of(shown.program)[std::size_t(rank_index)];
    } else if (known) {
      const Plan& plan = plans_[std::size_t(zero)];
      column.refusal = plan.refusal;
      if (std::size_t(rank_index) < plan.peaks.size()) {
        column.planned = plan.peaks[std::size_t(rank_index)];
        row = plan.rows[std::size_t(rank_index)];
      }
    }
    Setup exactly = shown.setup;
    exactly.zero = zero;
    const RunRecord* run = run_of(session, exactly);
    if (!run || !row) continue;
    for (const MemoryRow& counted : run->observation.memory)
      if (counted.rank == rank) column.counted = counted_parts(counted, *row, *column.planned);
  }
  return columns;
}

std::vector<ByteTerm> byte_terms(const Setup& setup) {
  const Precision precision = held_precision(setup);
  const auto type = [](double bytes) {
    return bytes == 2   ? Memory::tr("16-bit")
           : bytes == 4 ? Memory::tr("fp32")
           : bytes == 1 ? Memory::tr("8-bit")
           : bytes == 0 ? Memory::tr("none")
                        : Memory::tr("%1 B each").arg(QLocale().toString(bytes, 'g', 3));
  };
  const auto term = [&](const QString& name, double each, int bytes, Category category) {
    return ByteTerm{name.arg(type(each)), bytes, zero_shards(category, held_zero(setup))};
  };
  const int parameter = precision.parameter_bytes, gradient = precision.gradient_bytes;
  const int master = precision.master_bytes, moments = precision.moments_bytes;
  return {term(Memory::tr("Parameters, %1"), parameter, parameter, Category::kParameters),
          term(Memory::tr("Gradients, %1"), gradient, gradient, Category::kGradients),
          term(Memory::tr("Master, %1"), master, master, Category::kOptimizer),
          term(Memory::tr("Two moments, %1"), moments / 2.0, moments, Category::kOptimizer)};
}

QString bytes_formula(const Setup& setup) {
  int whole = 0, shared = 0;
  for (const ByteTerm& term : byte_terms(setup)) (term.sharded ? shared : whole) += term.bytes;
  if (shared == 0) return QString::number(whole);
  const QString part = QStringLiteral("%1/N").arg(shared);
  return whole == 0 ? part : QStringLiteral("%1 + %2").arg(whole).arg(part);
}

double bytes_per_parameter(const Setup& setup) {
  return model_states(1, held_precision(setup), held_zero(setup), shards_of(setup)).total();
}

namespace {

// Messages of one rank. Between stages each is a micro-batch of the residual stream, of which SP
// and CP keep a part on each rank; with several chunks there are several for each micro-batch.
void set_sends(TrafficTerm& term, const Setup& setup, bool between_stages, std::int64_t sends,
               double payload) {
  if (sends == 0) {
    term.explained = Memory::tr("this rank only receives");
    return;
  }
  const double each = payload / double(sends);
  const int sp = setup.sequence_parallel ? setup.mesh.tp : 1, cp = setup.mesh.cp;
  const double stream = double(setup.micro_batch) * double(setup.model.sequence) *
                        double(setup.model.hidden) * setup.precision.activation_bytes() / sp / cp;
  if (!between_stages || std::fabs(each - stream) > 0.5 || sends % setup.microbatches != 0) {
    term.formula = QStringLiteral("%1 \u00b7 %2").arg(count_text(sends), bytes_text(each));
    term.explained = Memory::tr("%1 sends of %2 each, on average")
                         .arg(count_text(sends), exact_bytes_text(std::int64_t(std::round(each))));
    return;
  }
  const std::int64_t times = sends / setup.microbatches;
  term.formula = (times == 1 ? QString() : QString::number(times) + QChar(0x00a0)) +
                 QStringLiteral("m \u00b7 b s h") + (sp > 1 ? QStringLiteral("/t") : QString()) +
                 (cp > 1 ? QStringLiteral("/c") : QString()) +
                 QStringLiteral(" \u00b7 %1\u00a0B").arg(setup.precision.activation_bytes());
  term.explained =
      Memory::tr("%1 sends, each one micro-batch of the residual stream").arg(count_text(sends));
}

// A single number is not cut: one rank adds it up and sends the sum to all others. False: it is
// more than one number, or two ranks, for which the general formula holds.
bool set_single_number(TrafficTerm& term, const TrafficRow& row, std::size_t members,
                       double payload) {
  constexpr double kNumber = 8;
  if (row.operation != "all_reduce" || row.calls != 1 || payload > kNumber || members < 3)
    return false;
  const bool to_all = double(term.sent) == payload * double(members - 1);
  if (!to_all && double(term.sent) != payload) return false;
  const auto bytes = std::int64_t(payload);
  term.formula =
      (to_all ? QStringLiteral("(N\u22121) S, S = ") : QStringLiteral("S = ")) + bytes_text(bytes);
  const QString explained =
      to_all ? Memory::tr(
                   "N = %1; S = %2. One number is not cut: this rank adds it up and sends "
                   "the sum to each of the others.")
             : Memory::tr(
                   "N = %1; S = %2. One number is not cut: another rank adds it up and "
                   "sends the sum to all.");
  term.explained = explained.arg(members).arg(exact_bytes_text(bytes));
  return true;
}

// As a sum of collectives over `members` ranks that carry `payload` bytes. `parameters`: of the
// rank.
void set_collectives(TrafficTerm& term, const Precision& precision, const TrafficRow& row,
                     double parameters, std::size_t members, double payload) {
  if (set_single_number(term, row, members, payload)) return;
  // Where the payload is a whole number of times the rank's parameters, Ψ says so.
  const int element =
      row.purpose == Purpose::kParameters ? precision.parameter_bytes : precision.gradient_bytes;
  const double psi = parameters * element;
  const double times = psi > 0 ? payload / psi : 0;
  const bool whole = times >= 0.5 && std::fabs(times - std::round(times)) < 0.005 &&
                     (row.axis == Axis::kDp || row.axis == Axis::kCp || row.axis == Axis::kWorld) &&
                     (row.purpose == Purpose::kGradients || row.purpose == Purpose::kParameters);
  const double factor = (row.operation == "all_reduce" ? 2 : 1) * (whole ? std::round(times) : 1);
  const QString number = factor == 1 ? QString() : QString::number(factor) + QChar(0x00a0);
  const QString amount = whole ? QStringLiteral("\u03a8") : QStringLiteral("S");
  term.formula = number + amount + QStringLiteral("(N\u22121)/N");
  if (!whole)
    term.formula += QStringLiteral(", S = ") + bytes_text(std::int64_t(std::round(payload)));
  // Where an array has fewer elements than ranks, one of them sends more than the others.
  const double even = factor * (whole ? psi : payload) * double(members - 1) / double(members);
  if (std::fabs(even - double(term.sent)) > 0.01 * double(term.sent))
    term.formula = Memory::tr("%1, on average over the ranks").arg(term.formula);
  term.explained = Memory::tr(
                       "N = %1; %2 = %3; %4 calls. A rank's share differs by the element that is "
                       "left over; over the group the sum is exact.")
                       .arg(members)
                       .arg(amount, exact_bytes_text(std::int64_t(whole ? psi : payload)),
                            count_text(row.calls));
}

// What the rank's ops carry of a row.
struct Carried {
  double payload = 0;
  std::int64_t operations = 0;
  std::size_t members = 1;
};
Carried carried_of(const Program& program, const RankProgram& rank, const TrafficRow& row) {
  Carried carried;
  const bool pair = row.operation == "send_recv";
  for (const Op& op : rank.ops) {
    if (op.group < 0 || op.purpose != row.purpose) continue;
    const Group& group = program.groups[std::size_t(op.group)];
    const bool same = op.kind == OpKind::kCollective ? row.operation == name_of(op.collective)
                                                     : pair && op.kind == OpKind::kSend;
    if (!same || group.axis != row.axis || group.ranks.size() < 2) continue;
    carried.members = group.ranks.size();
    carried.payload += double(op.bytes) * op.repeat;
    carried.operations += op.repeat;
  }
  return carried;
}

void set_counted(TrafficTerm& term, const TrafficRow& row, const std::vector<TrafficRow>& counted) {
  term.counted = 0;
  for (const TrafficRow& seen : counted)
    if (seen.axis == row.axis && seen.operation == row.operation && seen.purpose == row.purpose) {
      term.by_formula = !seen.counted;
      if (seen.counted)
        term.counted = seen.sent_bytes;
      else
        term.counted.reset();
    }
}

}  // namespace

std::vector<TrafficTerm> traffic_terms(const Prediction& prediction, const RunRecord* run,
                                       int rank_index) {
  std::vector<TrafficTerm> terms;
  const Program& program = prediction.program;
  if (rank_index >= int(program.ranks.size())) return terms;
  const RankProgram& rank = program.ranks[std::size_t(rank_index)];
  double parameters = 0;
  for (const ParameterSlice& slice : rank.parameters) parameters += double(slice.count);
  const std::vector<TrafficRow> planned = traffic_of(program, rank_index);
  const std::vector<TrafficRow>* counted = nullptr;
  if (run)
    for (std::size_t at = 0; at < run->prediction->program.ranks.size(); ++at)
      if (run->prediction->program.ranks[at].rank == rank.rank &&
          at < run->observation.traffic.size())
        counted = &run->observation.traffic[at];
  for (const TrafficRow& row : planned) {
    if (row.sent_bytes == 0 && row.received_bytes == 0) continue;
    TrafficTerm term;
    const QString operation = QString::fromStdString(row.operation);
    const bool pair = operation == QLatin1String("send_recv");
    const QString purpose = name_text(row.purpose);
    const QString axis = QString::fromUtf8(name_of(row.axis).data()).toUpper();
    const bool back = row.purpose == Purpose::kGradients && row.axis == Axis::kPp;
    term.name = pair && back ? Memory::tr("%1 \u2192 previous, %2").arg(purpose, axis)
                : pair       ? Memory::tr("%1 \u2192 next, %2").arg(purpose, axis)
                             : Memory::tr("%1 of %2, %3")
                             .arg(QString(operation).replace(QLatin1Char('_'), QLatin1Char('-')),
                                  purpose, axis);
    term.sent = row.sent_bytes;
    const auto [payload, operations, members] = carried_of(program, rank, row);
    if (pair)
      set_sends(term, prediction.setup, row.axis == Axis::kPp, operations, payload);
    else
      set_collectives(term, prediction.setup.precision, row, parameters, members, payload);
    if (counted) set_counted(term, row, *counted);
    terms.push_back(term);
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const TrafficTerm& a, const TrafficTerm& b) { return a.sent > b.sent; });
  return terms;
}

}  // namespace parallelarium
