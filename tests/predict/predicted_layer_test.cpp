// SPDX-License-Identifier: Apache-2.0
// Bytes of layers with uneven routing: all layers together send what the step's traffic says.
#include "engine/predict/predicted_layer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

TEST(PredictedLayer, RanksSendTheirOwnTokensWhereRoutingIsUneven) {
  const Result<Machine> machine = find_machine("dgx-h100");
  ASSERT_TRUE(machine.ok());
  using Fields = std::vector<std::pair<const char*, const char*>>;
  for (const Fields& given : {Fields{{"dp", "2"}, {"ep", "2"}, {"skew", "1"}},
                              {{"dp", "2"}, {"ep", "2"}, {"capacity", "0.5"}},
                              {{"dp", "2"}, {"ep", "2"}, {"tp", "2"}, {"skew", "1"}},
                              {{"dp", "4"}, {"ep", "4"}, {"recompute", "full"}, {"skew", "1"}},
                              {{"dp", "4"}, {"ep", "4"}}}) {
    parallelarium::Setup setup = default_setup();
    for (const auto& [field, value] : Fields{{"model", "moe-tiny"}, {"pp", "1"}})
      ASSERT_TRUE(set_field(setup, field, value).ok());
    for (const auto& [field, value] : given) ASSERT_TRUE(set_field(setup, field, value).ok());
    const Result<Prediction> prediction = predict(setup, *machine);
    ASSERT_TRUE(prediction.ok()) << prediction.error().text;
    // Of the first exchange of tokens: over all layers uneven experts may take turns.
    std::vector<std::int64_t> dispatched;
    for (int rank = 0; rank < setup.mesh.ranks(); ++rank) {
      std::int64_t expected = 0, found = 0;
      for (const TrafficRow& row : expected_traffic(*prediction, rank))
        if (row.purpose == Purpose::kTokens) expected += row.sent_bytes;
      for (int layer = 0; layer < setup.model.layers; ++layer)
        for (int microbatch = 0; microbatch < setup.microbatches; ++microbatch)
          for (const bool backward : {false, true}) {
            const LayerSteps steps = predicted_layer(*prediction, {layer, microbatch, backward});
            for (std::size_t at = 0; at < steps.ranks.size(); ++at)
              for (const LayerStep& step : steps.steps)
                if (steps.ranks[at].rank == rank && step.purpose == Purpose::kTokens) {
                  if (found == 0) dispatched.push_back(step.ranks[at].sent_bytes);
                  found += step.ranks[at].sent_bytes;
                }
          }
      EXPECT_EQ(found, expected) << given.back().first << " " << given.back().second << ", "
                                 << rank;
      EXPECT_GT(found, 0);
    }
    const auto [least, most] = std::minmax_element(dispatched.begin(), dispatched.end());
    ASSERT_EQ(dispatched.size(), static_cast<std::size_t>(setup.mesh.ranks()));
    EXPECT_EQ(*least == *most, given.back().first != std::string("skew"))
        << given.back().first << " " << given.back().second;
  }
}

}  // namespace
}  // namespace parallelarium
