// SPDX-License-Identifier: Apache-2.0
// The axes of a search by name, and what those of placement take where nobody says: how replicas
// share states, how layers are cut into stages, and in which order ranks stand.
#include <algorithm>

#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/phrases.h"
#include "engine/planner/space/space.h"

namespace parallelarium {

namespace {

std::string searched_schedules() {
  std::string always, for_memory;
  for (const ScheduleRule& rule : kScheduleRules) {
    if (rule.in_search == InSearch::kNever) continue;
    std::string& names = rule.in_search == InSearch::kAlways ? always : for_memory;
    names += (names.empty() ? "" : ", ") + std::string(rule.name);
  }
  return always + "; for objective memory also " + for_memory;
}

}  // namespace

const std::vector<PlanAxis>& plan_axes() {
  static const std::vector<PlanAxis> axes = {
      {"tp", "every divisor of the GPUs"},
      {"pp", "every divisor of the GPUs"},
      {"cp",
       "every divisor of up to 16 GPUs; of more those that leave 4096 tokens on a rank, or 2048 "
       "where the batch has fewer than 4096 for each GPU"},
      {"dp", "what the others leave, where it divides the global batch"},
      {"ep", "with experts: every divisor of DP, or where they are whole of TP x CP x DP"},
      {"expert-tensor",
       "true, and false where experts have EP, and beside TP sequence parallelism"},
      {"zero", "0 to 3 where states have replicas"},
      {"zero-group", "with ZeRO: 0 for all replicas, or those of one node"},
      {"sequence-parallel", "false and true where TP is above 1"},
      {"schedule", searched_schedules()},
      {"chunks", "interleaved: 2 to 8; with even stages those that divide the layers of a rank"},
      {"micro-batch", "1, 2, 4, 8, 16, and 32 and 64 where they hold no more than 65536 tokens"},
      {"microbatches", "what the others leave"},
      {"stage-layers", "even, and balanced with the head"},
      {"order", "tp-cp-ep-dp-pp, and tp-cp-ep-pp-dp where DP and PP share nodes"},
      {"recompute", "none, full, and selective where attention keeps its scores"},
  };
  return axes;
}

std::vector<Message> Space::tried_said() const {
  std::vector<Message> said, axes;
  if (micro_batch_.values.empty())
    axes.push_back(message("plan-tried-sizes", "micro-batches 1 to {}", largest_micro_batch()));
  if (request_.allowed.count("schedule") == 0)
    axes.push_back(message("plan-tried-schedules", "{} of {} schedules", schedules_.size(),
                           kScheduleRules.size()));
  if (!axes.empty())
    said.push_back(
        message("plan-tried", "Tried: {}; allow an axis other values to try those.", listed(axes)));
  if (request_.least_gpus < request_.most_gpus)
    said.push_back(message("plan-tried-gpus",
                           "Of {} to {} GPUs the search tried whole nodes of {} and equal parts "
                           "of one; for another number ask for it alone.",
                           request_.least_gpus, request_.most_gpus,
                           std::max(1, request_.machine.devices_per_node)));
  return said;
}

Setup without_axes(Setup setup) {
  setup.mesh = Mesh();
  setup.schedule = "1f1b";
  setup.chunks = setup.microbatches = setup.micro_batch = 1;
  setup.zero = setup.zero_group = 0;
  setup.nodes = 0;
  setup.sequence_parallel = setup.ring_tensor = false;
  setup.stage_layers.clear();
  return setup;
}

std::string axis_called(const std::string& name) {
  for (const PlanAxis& axis : plan_axes()) {
    const std::string option = axis.option;
    if (name == option || name == option + "s") return option;
    const SetupSetting* row = find_setting(setup_settings(), option);
    if (row != nullptr && row->key == name) return option;
  }
  return {};
}

double head_layers(const Model& model) {
  const double all = forward_flops_per_sequence(model);
  const double head = 2.0 * static_cast<double>(model.sequence) *
                      static_cast<double>(model.hidden) * static_cast<double>(model.vocab);
  return all > head ? head * model.layers / (all - head) : 0;
}

std::vector<int> balanced_layers(int layers, int stages, double head_layers) {
  const int others = stages - 1;
  const auto largest = [&](int last) {
    return std::max<double>((layers - last + others - 1) / others, last + head_layers);
  };
  int last = (layers + stages - 1) / stages;
  for (int fewer = last - 1; fewer >= 0; --fewer)
    if (largest(fewer) < largest(last)) last = fewer;
  std::vector<int> cut(static_cast<std::size_t>(stages), (layers - last) / others);
  cut.back() = last;
  const int left = (layers - last) % others;
  for (int more = 1; more <= left; ++more) ++cut[static_cast<std::size_t>(others - more)];
  return cut;
}

std::vector<RankOrder> Space::orders_of(const Candidate& candidate) const {
  const std::int64_t node = std::max(1, request_.machine.devices_per_node);
  const bool same = candidate.pp == 1 || candidate.dp == 1;
  if (!orders_.empty()) return same ? std::vector{orders_.front()} : orders_;
  const std::int64_t inner = std::int64_t{candidate.tp} * candidate.cp;
  if (same || inner >= node || candidate.gpus() <= node) return {RankOrder::kTpCpEpDpPp};
  return {RankOrder::kTpCpEpDpPp, RankOrder::kTpCpEpPpDp};
}

int node_group(const Mesh& mesh, const Machine& machine) {
  const int node = std::max(1, machine.devices_per_node), replicas = mesh.dp * mesh.cp;
  int here = 0;
  for (; here < replicas; ++here) {
    Coordinates at;
    at.dp = here / mesh.cp;
    at.cp = here % mesh.cp;
    if (rank_of(mesh, at) >= node) break;
  }
  const bool cuts_experts = mesh.expert_tensor ? mesh.ep > 1 && here % (mesh.ep * mesh.cp) != 0 &&
                                                     (mesh.cp > 1 || mesh.ep % here != 0)
                                               : here * mesh.tp % mesh.ep != 0;
  return here < 2 || here == replicas || mesh.dp % here != 0 || cuts_experts ? 0 : here;
}

std::vector<std::int32_t> Space::groups_of(const Candidate& candidate) const {
  if (!zero_group_.values.empty()) return {zero_group_.values.begin(), zero_group_.values.end()};
  Mesh mesh;
  mesh.dp = candidate.dp;
  mesh.tp = candidate.tp;
  mesh.pp = candidate.pp;
  mesh.cp = candidate.cp;
  mesh.ep = candidate.ep;
  mesh.order = candidate.order;
  mesh.expert_tensor = candidate.expert_tensor;
  const int here = node_group(mesh, request_.machine);
  return here == 0 ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{0, here};
}

std::vector<Sharding> Space::shardings_of(const Candidate& candidate) const {
  std::vector<Sharding> shardings;
  const bool replicas = candidate.dp * candidate.cp > 1;
  const std::uint8_t least = is_like_1f1b(candidate) ? 2 : 0;
  if (least > 0 && !replicas) return shardings;
  const std::vector<std::int32_t> groups =
      replicas
          ? groups_of(candidate)
          : std::vector<std::int32_t>{
                zero_group_.values.empty() ? 0 : static_cast<std::int32_t>(zero_group_.values[0])};
  for (const std::int32_t group : groups)
    for (std::uint8_t zero = least; zero <= (replicas ? 3 : 0); ++zero)
      // Without ZeRO all groups are alike, so that the first of them stands for all.
      if (zero_.has(zero) && (zero > 0 || group == groups.front()))
        shardings.push_back({zero, group});
  // Where nothing can be shared out, ZeRO does what it is told and changes nothing.
  if (!replicas && shardings.empty())
    shardings.push_back({static_cast<std::uint8_t>(zero_.values.front()), groups.front()});
  return shardings;
}

int Space::stages_of_candidate(const Candidate& candidate) const {
  const ScheduleRule& rule = *find_schedule_rule(named_[candidate.schedule]);
  if (rule.holds_stages_twice) return candidate.pp;
  return candidate.pp * (rule.chunks > 1 ? rule.chunks : candidate.chunks);
}

std::vector<int> balanced_cut(const Model& model, int stages, double head) {
  if (stages < 2 || stages > model.layers + 2) return {};
  std::vector<int> balanced = balanced_layers(model.layers, stages, head);
  const std::vector<int>& published = model.stage_layers;
  const auto is_even = [&](int count) { return count * stages == model.layers; };
  const bool same = published.size() == balanced.size()
                        ? balanced == published
                        : std::all_of(balanced.begin(), balanced.end(), is_even);
  return same ? std::vector<int>() : balanced;
}

std::vector<int> Space::layers_of(const Candidate& candidate) const {
  const Cut& cut = cuts_[candidate.layers];
  return cut.balanced
             ? balanced_cut(request_.base.model, stages_of_candidate(candidate), head_layers_)
             : cut.layers;
}

void Space::for_cuts(Candidate candidate, const std::function<bool(const Candidate&)>& visit,
                     bool& goes_on) const {
  bool even = false;
  for (std::size_t at = 0; at < cuts_.size() && goes_on; ++at) {
    candidate.layers = static_cast<std::uint8_t>(at);
    if (cuts_[at].balanced || cuts_[at].layers.empty()) {
      const bool is_even = !cuts_[at].balanced || layers_of(candidate).empty();
      // Chunks that nobody asked for stand for layers that they divide, or for a balanced cut.
      const bool divides = request_.base.model.layers % (candidate.pp * candidate.chunks) == 0;
      if (is_even && (even || (candidate.chunks > 1 && chunks_.values.empty() && !divides)))
        continue;
      even = even || is_even;
    }
    goes_on = visit(candidate);
  }
}

// Even stages take those that divide the layers (for_cuts()); other cuts take any.
std::vector<int> Space::chunks_of(const Candidate& candidate) const {
  std::vector<int> chunks;
  for (const std::int64_t count : chunks_.values)
    if (count > 1) chunks.push_back(static_cast<int>(count));
  if (!chunks_.values.empty()) return chunks;
  const bool uneven = std::any_of(cuts_.begin(), cuts_.end(), [](const Cut& cut) {
    return cut.balanced || !cut.layers.empty();
  });
  for (int count = 2; count <= kMostPlanChunks; ++count)
    if (uneven || request_.base.model.layers % (candidate.pp * count) == 0) chunks.push_back(count);
  return chunks;
}

bool Space::is_scheduled_as(const Setup& setup, const Candidate& candidate) const {
  const auto same = std::find(named_.begin(), named_.end(), setup.schedule);
  if (same == named_.end()) return false;
  const auto at = static_cast<std::size_t>(same - named_.begin());
  return candidate.schedule == (candidate.pp == 1 ? first_alike_on_one_stage(at) : at);
}

bool Space::covers(const Setup& asked) const {
  Setup setup = asked;
  const Mesh& mesh = setup.mesh;
  Candidate alike;
  alike.pp = mesh.pp;
  const auto named = std::find(named_.begin(), named_.end(), setup.schedule);
  alike.schedule = static_cast<std::uint8_t>(named - named_.begin());
  if (named != named_.end() && (setup.zero < 2 || mesh.dp * mesh.cp == 1) && is_like_1f1b(alike)) {
    setup.schedule = "1f1b";
    setup.chunks = 1;
    setup.stage_layers.clear();
  }
  if (std::find(recomputes_.begin(), recomputes_.end(), setup.recompute) == recomputes_.end())
    return false;
  const int stages = stages_of(setup);
  std::vector<int> cut = setup.stage_layers;  // an even one is said by nothing, too
  if (std::all_of(cut.begin(), cut.end(),
                  [&](int count) { return count * stages == setup.model.layers; }))
    cut.clear();
  Candidate of_mesh;
  of_mesh.dp = mesh.dp;
  of_mesh.tp = mesh.tp;
  of_mesh.pp = mesh.pp;
  of_mesh.cp = mesh.cp;
  const std::int64_t gpus = of_mesh.gpus();
  if (gpus < request_.least_gpus || gpus > request_.most_gpus || !wanted_gpus(gpus) ||
      !takes_mesh(of_mesh))
    return false;
  bool found = false, goes_on = true;
  const auto visit = [&](const Candidate& of) {
    const bool same_experts =
        of.expert_tensor == mesh.expert_tensor || (mesh.tp == 1 && (mesh.cp == 1 || mesh.ep == 1));
    if (of.ep != mesh.ep || !same_experts || of.micro_batch != setup.micro_batch ||
        of.microbatches != setup.microbatches || of.sequence_parallel != setup.sequence_parallel)
      return true;
    if (!is_scheduled_as(setup, of) || of.chunks != setup.chunks || layers_of(of) != cut ||
        (of.pp > 1 && of.dp > 1 && of.order != mesh.order))
      return true;
    if (of.dp * of.cp == 1) return !(found = true);
    const std::vector<Sharding> shardings = shardings_of(of);
    found = std::any_of(shardings.begin(), shardings.end(), [&](const Sharding& sharding) {
      return sharding.zero == setup.zero && (setup.zero == 0 || sharding.group == setup.zero_group);
    });
    return !found;
  };
  for_order(of_mesh, visit, goes_on);
  return found;
}

}  // namespace parallelarium
