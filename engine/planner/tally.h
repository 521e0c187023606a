// SPDX-License-Identifier: Apache-2.0
// How many candidates of a search are in each class, and for which reasons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "engine/planner/search.h"

namespace parallelarium {

class Tally {
 public:
  void count(PlanClass plan_class, std::int64_t times = 1) {
    classes_[static_cast<std::size_t>(plan_class)] += times;
  }
  ReasonCount& count(PlanClass plan_class, const Message& sentence, const Candidate& of,
                     std::int64_t times = 1) {
    count(plan_class, times);
    auto& [reason, example] = reasons_[{plan_class, sentence.id, sentence.field}];
    if (reason.count == 0) {
      reason.sentence = sentence;
      example = of;
    }
    reason.plan_class = plan_class;
    reason.count += times;
    return reason;
  }
  // A kind may have millions of candidates, all for one reason. `say` makes the sentence of the
  // first one only.
  enum class Kind : std::uint8_t { kBounded, kStatesTooLarge, kTooLarge };
  template <class Say>
  void count(Kind kind, PlanClass plan_class, const Say& say, const Candidate& of) {
    ReasonCount*& known = kinds_[static_cast<std::size_t>(kind)];
    if (known == nullptr) {
      known = &count(plan_class, say(), of);
      return;
    }
    ++known->count;
    count(plan_class);
  }
  std::int64_t decided() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : classes_) sum += count;
    return sum;
  }
  void tell(PlanResult& result, const Space& space) const {
    std::copy(std::begin(classes_), std::end(classes_), std::begin(result.classes));
    for (const auto& [key, counted] : reasons_) {
      result.reasons.push_back(counted.first);
      result.reasons.back().example = space.setup_of(counted.second);
    }
    std::stable_sort(result.reasons.begin(), result.reasons.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
  }

 private:
  std::int64_t classes_[kPlanClasses] = {};
  // By id and field; with the candidate that the sentence is about.
  std::map<std::tuple<PlanClass, std::string, std::string>, std::pair<ReasonCount, Candidate>>
      reasons_;
  ReasonCount* kinds_[3] = {};  // by Kind, pointers into reasons_; null: none has come yet
};

}  // namespace parallelarium
