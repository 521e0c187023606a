// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/wire/frameworks/megatron/megatron.h"

namespace parallelarium::frameworks {
namespace {

constexpr std::size_t kMostLetters = 100'000;  // of a layout that is written out

// The schedule that Megatron runs for this one, with the chunks of a rank: interleaved or 1F1B.
int virtual_stages(const Setup& setup) {
  return setup.schedule == "interleaved" ? setup.chunks : 1;
}

std::vector<int> megatron_layers(const Setup& setup) {
  return virtual_stages(setup) > 1 ? layers_of_stages(setup) : layers_of_ranks(setup);
}

FrameworkRow gpus(const MegatronNames&) {
  // DP is what the number of ranks leaves; the recipe's launch stands in its heading.
  FrameworkRow row;
  row.names = {"nproc-per-node", "nnodes", "WORLD_SIZE"};
  row.settings = {"mesh.dp"};
  row.write = [](const Setup&, Entries&) {};
  row.read = [](Draft& draft) -> Result<void> {
    draft.setup.mesh.dp = 1;
    const Result<std::int64_t> world = whole_at(draft, "WORLD_SIZE", 0, 1);
    const Result<std::int64_t> each = whole_at(draft, "nproc-per-node", 0, 1, 1'000'000);
    const Result<std::int64_t> nodes = whole_at(draft, "nnodes", 1, 1, 1'000'000);
    for (const Result<std::int64_t>* number : {&world, &each, &nodes})
      if (!*number) return number->error();
    draft.gpus = *each > 0 ? *each * *nodes : *world;
    if (draft.gpus == 0)
      draft.notes.push_back(message(
          "framework-gpus",
          "The text does not say how many GPUs there are (torchrun --nnodes N --nproc-per-node M), "
          "so DP 1 is taken."));
    return {};
  };
  return row;
}

// Stages and layers: flags for equal ones, a layout for others.
FrameworkRow stages(const MegatronNames& n) {
  const std::string chunks =
      n("num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size");
  const std::string layout =
      n("pipeline-model-parallel-layout", "model.pipeline_model_parallel_layout");
  const std::string first =
      n("decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage");
  const std::string last =
      n("decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage");
  const std::string embedding =
      n("account-for-embedding-in-pipeline-split", "model.account_for_embedding_in_pipeline_split");
  const std::string loss =
      n("account-for-loss-in-pipeline-split", "model.account_for_loss_in_pipeline_split");
  const std::string per_stage = "num-layers-per-virtual-pipeline-stage";
  FrameworkRow row;
  row.names = {chunks, layout, first, last, embedding, loss, per_stage};
  row.settings = {"schedule", "chunks", "stage_layers"};
  row.write = [=, line = n.line](const Setup& setup, Entries& entries) {
    if (setup.mesh.pp == 1) return;
    const int virtual_count = virtual_stages(setup);
    const std::vector<int> layers = megatron_layers(setup);
    const bool even = are_even(layers);
    if (virtual_count > 1 && (even || !line)) entries.emplace_back(chunks, virtual_count);
    if (!even) entries.emplace_back(layout, layout_of(layers));
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    const int ranks = setup.mesh.pp;
    Result<std::int64_t> virtual_count = whole_at(draft, chunks, 1, 1, 1'000);
    const Result<std::int64_t> each = whole_at(draft, per_stage, 0, 1, 10'000);
    if (!virtual_count) return virtual_count.error();
    if (!each) return each.error();
    const int extra_first = flag_at(draft, embedding, false) ? 1 : 0;
    const int extra_last = flag_at(draft, loss, false) ? 1 : 0;
    const int counted = setup.model.layers + extra_first + extra_last;
    if (*each > 0) virtual_count = std::max<std::int64_t>(1, counted / ranks / *each);
    if (draft.find(layout) != nullptr) {
      Result<std::vector<int>> layers =
          layers_of_layout(word_at(draft, layout, ""), draft.shown_name(layout));
      if (!layers) return layers.error();
      draft.stage_layers = std::move(*layers);
      const auto count = static_cast<int>(draft.stage_layers.size());
      if (count % ranks != 0)
        return message("framework-layout-stages",
                       "{} has {} stages, no multiple of the {} pipeline ranks.",
                       draft.shown_name(layout), count, ranks);
      virtual_count = count / ranks;
    }
    setup.schedule = *virtual_count > 1 ? "interleaved" : "1f1b";
    setup.chunks = static_cast<int>(*virtual_count);
    const int all = ranks * setup.chunks;
    if (draft.stage_layers.empty() && (extra_first > 0 || extra_last > 0) && counted % all == 0) {
      draft.stage_layers.assign(static_cast<std::size_t>(all), counted / all);
      draft.stage_layers.front() -= extra_first;
      draft.stage_layers.back() -= extra_last;
    }
    const Result<std::int64_t> begin = whole_at(draft, first, -1, 0, 10'000);
    const Result<std::int64_t> end = whole_at(draft, last, -1, 0, 10'000);
    if (!begin) return begin.error();
    if (!end) return end.error();
    const int given = (*begin >= 0 ? 1 : 0) + (*end >= 0 ? 1 : 0), inner = ranks - given;
    if (given == 0) return {};
    const std::int64_t rest =
        setup.model.layers - std::max<std::int64_t>(0, *begin) - std::max<std::int64_t>(0, *end);
    const bool divides = inner > 0 && rest % inner == 0;
    if (!divides || setup.chunks > 1) {
      draft.notes.push_back(message(
          "framework-uneven", "How {} cuts the layers is not read; say stage_layers yourself.",
          draft.shown_name(*begin >= 0 ? first : last)));
      return {};
    }
    draft.stage_layers.assign(static_cast<std::size_t>(ranks), static_cast<int>(rest / inner));
    if (*begin >= 0) draft.stage_layers.front() = static_cast<int>(*begin);
    if (*end >= 0) draft.stage_layers.back() = static_cast<int>(*end);
    return {};
  };
  return row;
}

// ZeRO 1 is the distributed optimizer, ZeRO 2 and 3 are Megatron-FSDP, with what its documentation
// and both of its example scripts recommend (docs/user-guide/features/megatron_fsdp.md,
// examples/megatron_fsdp). Without the meta device every rank builds its part whole before it is
// shared out, and may run out of memory then.
FrameworkRow zero_stages(const MegatronNames& n) {
  const std::string optimizer = n("use-distributed-optimizer", "ddp.use_distributed_optimizer");
  const std::string fsdp = n("use-megatron-fsdp", "ddp.use_megatron_fsdp");
  const std::string strategy =
      n("data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy");
  FrameworkRow row;
  row.names = {optimizer, fsdp, strategy, "dist.use_megatron_fsdp",
               "optimizer.use_distributed_optimizer"};
  row.settings = {"zero"};
  row.write = [=, line = n.line](const Setup& setup, Entries& entries) {
    // A recipe changes another one's configuration, so it also says what is off.
    const bool shards = setup.zero >= 1, as_fsdp = setup.zero >= 2;
    if (shards || !line) entries.emplace_back(optimizer, shards);
    if (!line) entries.emplace_back("optimizer.use_distributed_optimizer", shards);
    if (as_fsdp || !line) entries.emplace_back(fsdp, as_fsdp);
    if (!line) entries.emplace_back("dist.use_megatron_fsdp", as_fsdp);
    if (!as_fsdp) return;
    entries.emplace_back(strategy, setup.zero == 2 ? "optim_grads" : "optim_grads_params");
    entries.emplace_back(line ? "ckpt-format" : "checkpoint.ckpt_format", "fsdp_dtensor");
    if (can_build_in_parts(setup))
      entries.emplace_back(
          line ? "init-model-with-meta-device" : "model.init_model_with_meta_device", true);
    if (!line) return;
    entries.emplace_back("no-gradient-accumulation-fusion", true);
    entries.emplace_back("calculate-per-token-loss", true);
  };
  row.read = [=](Draft& draft) -> Result<void> {
    draft.setup.zero = flag_at(draft, optimizer, false) ? 1 : 0;
    draft.setup.zero_group = 0;
    if (!flag_at(draft, fsdp, false)) return {};
    const std::string word = word_at(draft, strategy, "optim_grads_params");
    const std::vector<std::string> strategies = {"no_shard", "optim", "optim_grads",
                                                 "optim_grads_params"};
    const auto found = std::find(strategies.begin(), strategies.end(), word);
    if (found == strategies.end())
      return unknown_choice(draft.shown_name(strategy), word, strategies);
    draft.setup.zero = static_cast<int>(found - strategies.begin());
    return {};
  };
  return row;
}

// Gathers of parameters beside the next forward, and sums of gradients beside the backward.
// Megatron-FSDP that shares out parameters does the first, and with gradients that it shares out
// the second, whatever the flags say (core/distributed/fsdp/src/megatron_fsdp,
// MegatronFSDP.__init__). Beside a distributed optimizer Bridge's CommOverlapConfig decides in
// place of the fields of ddp, and does both unless it is told not to (training/comm_overlap.py).
FrameworkRow overlaps(const MegatronNames& n) {
  const std::string gather = n("overlap-param-gather", "ddp.overlap_param_gather");
  const std::string reduce = n("overlap-grad-reduce", "ddp.overlap_grad_reduce");
  const std::string own_gather = "comm_overlap.overlap_param_gather";
  const std::string own_reduce = "comm_overlap.overlap_grad_reduce";
  FrameworkRow row;
  row.names = {gather, reduce};
  if (!n.line) row.names.insert(row.names.end(), {own_gather, own_reduce});
  row.settings = {"zero_prefetch", "overlap_gradients", "overlap_parameters"};
  row.write = [=, line = n.line](const Setup& setup, Entries& entries) {
    // arguments.py: --overlap-param-gather goes with --overlap-grad-reduce alone.
    const bool reduces = setup.overlap_gradients || setup.zero >= 2;
    const bool wanted = setup.overlap_parameters && setup.zero >= 1 && (reduces || !line);
    const bool ahead = setup.zero == 3 || wanted;
    if (reduces || !line) entries.emplace_back(reduce, reduces);
    if (ahead || !line) entries.emplace_back(gather, ahead);
    if (line) return;
    entries.emplace_back(own_reduce, reduces);
    entries.emplace_back(own_gather, ahead);
  };
  row.read = [=, line = n.line](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    const bool decides = !line && setup.zero > 0 && draft.find("comm_overlap.tp_comm_overlap");
    const auto does = [&](const std::string& name, const std::string& own) {
      if (!decides) return flag_at(draft, name, false);
      const nlohmann::json* said = draft.find(own);
      return said == nullptr || said->is_null() || flag_at(draft, own, true);
    };
    setup.overlap_gradients = does(reduce, own_reduce) || setup.zero >= 2;
    setup.overlap_parameters = does(gather, own_gather) && setup.zero < 3;
    if (setup.zero == 3) setup.zero_prefetch = Setup().zero_prefetch;
    return {};
  };
  return row;
}

// Copies of the optimizer: the ranks of DP and CP over those that share states.
FrameworkRow zero_groups(const MegatronNames& n) {
  const std::string name =
      n("num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"zero_group"};
  row.write = [name, line = n.line](const Setup& setup, Entries& entries) {
    const bool grouped = setup.zero > 0 && setup.zero_group > 0;
    const int copies = grouped ? setup.mesh.dp * setup.mesh.cp / setup.zero_group : 1;
    if (copies > 1 || !line) entries.emplace_back(name, copies);
  };
  row.read = [name](Draft& draft) -> Result<void> {
    const Result<std::int64_t> copies = whole_at(draft, name, 1, 1, 65'536);
    if (!copies) return copies.error();
    const Mesh& mesh = draft.setup.mesh;
    const std::int64_t ranks = draft.gpus / (std::int64_t{mesh.tp} * mesh.pp);  // of DP and CP
    if (*copies == 1 || ranks == 0) return {};
    if (ranks % *copies != 0)
      return message("framework-instances", "{} is {}, which does not divide DP times CP, {}.",
                     draft.shown_name(name), *copies, ranks);
    draft.setup.zero_group = static_cast<int>(ranks / *copies);
    return {};
  };
  return row;
}

// Only the interleaved schedule sends while it computes.
FrameworkRow sends_overlap(const MegatronNames& n) {
  const std::string name = n("no-overlap-p2p-communication", "model.overlap_p2p_comm");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"overlap_pipeline"};
  row.write = [name, line = n.line](const Setup& setup, Entries& entries) {
    if (setup.mesh.pp == 1 || virtual_stages(setup) == 1) return;
    if (!line) entries.emplace_back(name, setup.overlap_pipeline);
    if (line && !setup.overlap_pipeline) entries.emplace_back(name, true);
  };
  row.read = [name, line = n.line](Draft& draft) -> Result<void> {
    const bool overlaps = line ? !flag_at(draft, name, false) : flag_at(draft, name, true);
    draft.setup.overlap_pipeline = draft.setup.schedule == "interleaved" && overlaps;
    return {};
  };
  return row;
}

}  // namespace

std::string layout_of(const std::vector<int>& layers) {
  const auto stage = [&](std::size_t at) {
    std::string text = at == 0 ? "E" : "";
    if (layers[at] == 1) text += "t";
    if (layers[at] > 1) text += fmt::format("t*{}", layers[at]);
    return text + (at + 1 == layers.size() ? "L" : "|");
  };
  std::string text;
  for (std::size_t at = 0; at < layers.size();) {
    std::size_t end = at + 1;
    while (end + 1 < layers.size() && at > 0 && layers[end] == layers[at]) ++end;
    const std::size_t count = end - at;
    text += count > 2 ? fmt::format("({})*{}", stage(at), count) : stage(at);
    if (count == 2) text += stage(at + 1);
    at = end;
  }
  return text;
}

Result<std::vector<int>> layers_of_layout(std::string layout, const std::string& name) {
  std::erase_if(layout, [](char c) { return c == ',' || c == ' ' || c == '"' || c == '\''; });
  const auto wrong = [&] {
    return message("framework-layout",
                   "{} is “{}”; it is made of E, t, m, L and |, and (…)*n for repeated parts.",
                   name, shown(layout));
  };
  // What is repeated is written out: first brackets, then letters, as Megatron does.
  for (const bool brackets : {true, false}) {
    for (std::size_t star; (star = layout.find('*')) != std::string::npos;) {
      if (brackets) {
        star = layout.find(")*");
        if (star == std::string::npos) break;
        ++star;
      }
      std::size_t count = 0;
      const char* begin = layout.data() + star + 1;
      const auto [end, fault] = std::from_chars(begin, layout.data() + layout.size(), count);
      const std::size_t open = brackets ? layout.rfind('(', star) : star - 1;
      if (fault != std::errc{} || star == 0 || open == std::string::npos) return wrong();
      const std::string part =
          brackets ? layout.substr(open + 1, star - open - 2) : layout.substr(star - 1, 1);
      if (part.size() * count > kMostLetters) return wrong();
      std::string repeated;
      for (std::size_t n = 0; n < count; ++n) repeated += part;
      layout.replace(open, static_cast<std::size_t>(end - layout.data()) - open, repeated);
      if (layout.size() > kMostLetters) return wrong();
    }
  }
  std::vector<int> layers = {0};
  for (const char letter : layout) {
    if (letter == 't') ++layers.back();
    if (letter == '|') layers.push_back(0);
    if (std::string_view("tmEL|").find(letter) == std::string_view::npos) return wrong();
  }
  return layers;
}

std::vector<FrameworkRow> megatron_parallel_rows(const MegatronNames& n) {
  FrameworkRow experts = same(n("expert-model-parallel-size", "model.expert_model_parallel_size"),
                              "mesh.ep", 1, Written::kWhereNotUsual);
  FrameworkRow kind = translated(
      n("cp-comm-type", "model.cp_comm_type"), "context_parallel",
      {{"p2p", "ring"}, {"allgather", "all-gather"}, {"a2a", "ulysses"}, {"a2a+p2p", nullptr}},
      "p2p");
  kind.write = [write = kind.write](const Setup& setup, Entries& entries) {
    if (setup.mesh.cp > 1) write(setup, entries);
  };
  FrameworkRow order =
      n.line ? translated("use-tp-pp-dp-mapping", "mesh.order",
                          {{true, "tp-cp-ep-pp-dp"}, {false, "tp-cp-ep-dp-pp"}}, false,
                          Written::kWhereNotUsual)
             : translated("dist.use_tp_pp_dp_mapping", "mesh.order",
                          {{true, "tp-cp-ep-pp-dp"}, {false, "tp-cp-ep-dp-pp"}}, false);
  FrameworkRow group = same(n("microbatch-group-size-per-virtual-pipeline-stage",
                              "model.microbatch_group_size_per_vp_stage"),
                            "microbatch_group", 0, Written::kWhereNotUsual);
  group.write = [name = group.names.front()](const Setup& setup, Entries& entries) {
    // Left out, it is the number of ranks.
    if (virtual_stages(setup) == 1 || setup.microbatches < setup.mesh.pp) return;
    const int round = interleaved_round(setup);
    if (round != setup.mesh.pp) entries.emplace_back(name, round);
  };
  // It cuts the products that it can, and hides the sums of input gradients behind weight
  // gradients.
  FrameworkRow sums =
      n.flag("tp-comm-overlap", true, "comm_overlap.tp_comm_overlap", "ring_tensor");
  sums.settings.emplace_back("overlap_tensor");
  sums.read = [read = sums.read](Draft& draft) -> Result<void> {
    if (Result<void> set = read(draft); !set) return set;
    draft.setup.ring_tensor = draft.setup.ring_tensor && draft.setup.sequence_parallel;
    draft.setup.overlap_tensor = draft.setup.ring_tensor;
    return {};
  };
  return {
      same(n("tensor-model-parallel-size", "model.tensor_model_parallel_size"), "mesh.tp", 1),
      same(n("pipeline-model-parallel-size", "model.pipeline_model_parallel_size"), "mesh.pp", 1),
      same(n("context-parallel-size", "model.context_parallel_size"), "mesh.cp", 1),
      std::move(experts), gpus(n),
      n.flag("sequence-parallel", true, "model.sequence_parallel", "sequence_parallel"),
      std::move(order), std::move(kind),
      // get_batch_on_this_cp_rank gives each rank two runs; linear layers gather inputs again.
      only_read({}, {"cp_split", "sequence_regather"},
                [](Draft& draft) {
                  draft.setup.cp_split = ContextSplit::kZigzag;
                  draft.setup.sequence_regather = true;
                  return Result<void>();
                }),
      stages(n), std::move(group), sends_overlap(n), zero_stages(n), zero_groups(n), overlaps(n),
      std::move(sums)};
}

}  // namespace parallelarium::frameworks
