// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/listing.h"

#include <algorithm>
#include <optional>

namespace parallelarium {

namespace {

class Lister {
 public:
  Lister(const PlanRequest& request, const Space& space, BoundTables& tables, Tally& tally,
         const PlanWatch& watch, std::vector<Entry>& entries)
      : request_(request),
        space_(space),
        tables_(tables),
        tally_(tally),
        watch_(watch),
        entries_(entries),
        setup_(request.base) {}

  // Of all, without looking at them; above kMostCandidates it is enough to know that.
  std::int64_t count() const {
    const auto recomputes = static_cast<std::int64_t>(space_.recomputes().size());
    std::int64_t candidates = 0;
    space_.for_each([&](const Candidate& group) {
      candidates += static_cast<std::int64_t>(space_.shardings_of(group).size()) * recomputes;
      return candidates <= kMostCandidates && !cancelled();
    });
    return candidates;
  }

  // Whether it came to the end.
  bool list() {
    bool all = true;
    space_.for_each([&](const Candidate& group) {
      all = !cancelled();
      if (all) list(group);
      return all;
    });
    return all;
  }

  bool cancelled() const { return watch_.cancel != nullptr && *watch_.cancel; }

 private:
  void list(Candidate candidate) {
    const std::vector<Sharding> shardings = space_.shardings_of(candidate);
    const auto recomputes = static_cast<std::int64_t>(space_.recomputes().size());
    for (std::size_t at = 0, end = 0; at < shardings.size(); at = end) {
      while (end < shardings.size() && shardings[end].group == shardings[at].group) ++end;
      candidate.zero = shardings[at].zero;
      candidate.zero_group = shardings[at].group;
      space_.write(candidate, setup_);
      const std::vector<Message> wrong = validate(setup_);
      const bool by_recompute = !wrong.empty() && wrong.front().field == "recompute";
      // One rule alone looks at the group.
      if (!wrong.empty() && !by_recompute && wrong.front().field != "zero_group")
        end = shardings.size();
      if (!wrong.empty() && !by_recompute)
        tally_.count(PlanClass::kRefused, wrong.front(), candidate,
                     static_cast<std::int64_t>(end - at) * recomputes);
      else
        enter(candidate,
              {shardings.begin() + std::ptrdiff_t(at), shardings.begin() + std::ptrdiff_t(end)});
    }
  }

  std::optional<Message> refusal() const {
    return request_.refuses ? request_.refuses(setup_) : std::nullopt;
  }

  // Its Setup, which was written, is valid with all these, if it is with what it computes again.
  void enter(Candidate candidate, const std::vector<Sharding>& shardings) {
    // What is refused for another axis is refused with any of these and any recompute.
    if (const auto why = refusal();
        why && why->field != "zero" && why->field != "zero_group" && why->field != "recompute") {
      tally_.count(PlanClass::kRefused, *why, candidate,
                   static_cast<std::int64_t>(shardings.size() * space_.recomputes().size()));
      return;
    }
    for (std::size_t recompute = 0; recompute < space_.recomputes().size(); ++recompute) {
      candidate.recompute = static_cast<std::uint8_t>(recompute);
      setup_.recompute = space_.recomputes()[recompute];
      if (const std::vector<Message> wrong = validate(setup_); !wrong.empty()) {
        tally_.count(PlanClass::kRefused, wrong.front(), candidate,
                     static_cast<std::int64_t>(shardings.size()));
        continue;
      }
      const Footing footing = tables_.footing_of(candidate, setup_);
      for (const Sharding& sharding : shardings) {
        candidate.zero = sharding.zero;
        setup_.zero = sharding.zero;
        if (const auto why = refusal()) {
          tally_.count(PlanClass::kRefused, *why, candidate);
          continue;
        }
        entries_.push_back({candidate, footing, tables_.end_of(candidate, setup_), 0, 0, 0});
      }
    }
  }

  const PlanRequest& request_;
  const Space& space_;
  BoundTables& tables_;
  Tally& tally_;
  const PlanWatch& watch_;
  std::vector<Entry>& entries_;
  Setup setup_;  // of the candidate that was written last
};

Message nothing_made(const PlanRequest& request, const Space& space) {
  const Message none =
      request.least_gpus == request.most_gpus
          ? message("plan-empty",
                    "No combination of the axes makes {} GPUs and a global batch of {} sequences; "
                    "free an axis, or choose a batch that more ranks divide.",
                    request.most_gpus, request.global_batch)
          : message("plan-empty-range",
                    "Of {} to {} GPUs a search tries whole nodes of {} and equal parts of one, and "
                    "none of these makes a global batch of {} sequences with any combination of "
                    "the axes; ask for another number of GPUs alone, free an axis, or choose a "
                    "batch that more ranks divide.",
                    request.least_gpus, request.most_gpus,
                    std::max(1, request.machine.devices_per_node), request.global_batch);
  const std::optional<std::int64_t> most_cp = space.most_cp(request.least_gpus);
  if (!most_cp) return none;
  return message("plan-empty-cp",
                 "{} Of CP no more than {} is tried unless it is fixed: it leaves {} tokens on a "
                 "rank.",
                 none, *most_cp, request.base.model.sequence / *most_cp);
}

}  // namespace

bool says_that_none_is_made(const Message& error) {
  return error.id == "plan-empty" || error.id == "plan-empty-range" || error.id == "plan-empty-cp";
}

Result<Listing> list_candidates(const PlanRequest& request, const Space& space, BoundTables& tables,
                                Tally& tally, const PlanWatch& watch, std::vector<Entry>& entries) {
  watch.tell(0, message("plan-listing", "Listing the candidates."));
  Lister lister(request, space, tables, tally, watch, entries);
  Listing listing;
  listing.candidates = lister.count();
  if (listing.candidates > kMostCandidates)
    return message("plan-many",
                   "These axes have more than {} combinations; fix some of them, such as TP "
                   "to 8.",
                   kMostCandidates);
  if (listing.candidates == 0 && !lister.cancelled()) return nothing_made(request, space);
  listing.all = lister.list();
  return listing;
}

}  // namespace parallelarium
