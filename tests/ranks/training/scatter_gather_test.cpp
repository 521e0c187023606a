// SPDX-License-Identifier: Apache-2.0
// Scatter/gather between stages: each rank of a TP group sends its share, and the group gathers it.
#include <gtest/gtest.h>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// What a rank sends on an axis for one purpose, in bytes.
std::int64_t sent(const Observation& of, std::size_t rank, Axis axis, Purpose purpose) {
  std::int64_t bytes = 0;
  for (const TrafficRow& row : of.traffic[rank])
    if (row.axis == axis && row.purpose == purpose) bytes += row.sent_bytes;
  return bytes;
}

class ScatterGather : public testing::TestWithParam<const char*> {};

// The same bits, and the bytes of Narayanan et al. 2021, section 4.1: b s h / t to each neighbour,
// and (t - 1) / t of b s h in the group of each that receives. All counted by what ranks sent.
TEST_P(ScatterGather, ChangesBytesAndNothingElse) {
  auto setup = small_model(GetParam());
  const RunWishes results{.gradients = true, .last_gradients = true};
  const Result<RunResult> whole = run_now(setup, built(setup), results);
  setup.scatter_gather = true;
  ASSERT_TRUE(validate(setup).empty()) << validate(setup).front().text;
  const Result<RunResult> shares = run_now(setup, built(setup), results);
  ASSERT_TRUE(whole.ok() && shares.ok());
  EXPECT_EQ(shares->observation.losses, whole->observation.losses);
  EXPECT_EQ(relative_difference(shares->gradients, whole->gradients), 0);
  EXPECT_EQ(relative_difference(shares->last_gradients, whole->last_gradients), 0);

  const Mesh& mesh = setup.mesh;
  const std::int64_t t = mesh.tp, b = setup.micro_batch, m = setup.microbatches;
  const std::int64_t numbers = b * setup.model.sequence / mesh.cp * setup.model.hidden;
  const std::int64_t once = m * numbers * setup.precision.activation_bytes();
  const int v = setup.chunks;
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const int stage = coordinates_of(mesh, rank).pp;
    const auto at = static_cast<std::size_t>(rank);
    const int forwards = v - (stage + 1 == mesh.pp), backwards = v - (stage == 0);
    const std::pair<Purpose, std::pair<int, int>> sides[] = {
        {Purpose::kActivations, {forwards, backwards}},
        {Purpose::kGradients, {backwards, forwards}}};
    for (const auto& [purpose, times] : sides) {
      const auto [sends, receives] = times;
      EXPECT_EQ(sent(whole->observation, at, Axis::kPp, purpose), sends * once) << rank;
      EXPECT_EQ(sent(shares->observation, at, Axis::kPp, purpose), sends * once / t) << rank;
      EXPECT_EQ(sent(shares->observation, at, Axis::kTp, purpose) -
                    sent(whole->observation, at, Axis::kTp, purpose),
                receives * once / t * (t - 1))
          << rank;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ScatterGather,
    testing::Values("tp=2 pp=2 microbatches=3", "tp=4 pp=2 microbatches=2 micro-batch=3",
                    "tp=4 pp=2 sequence=7 microbatches=3", "llama tp=2 pp=3 layers=3 sequence=5",
                    "tp=4 pp=2 hidden=36 sequence=5 micro-batch=3",
                    "tp=3 pp=2 hidden=33 heads=3 kv-heads=3 ffn=33 sequence=5 microbatches=3",
                    "tp=2 pp=2 cp=2 attention=fused sequence=12 microbatches=3",
                    "tp=2 pp=4 schedule=zb-h1 microbatches=5 recompute=full",
                    "tp=2 pp=3 stage-layers=0,4,0 schedule=zb-h1 microbatches=3",
                    "tp=2 pp=2 schedule=interleaved chunks=2 microbatches=3",
                    "tp=4 pp=2 precision=mixed-16 microbatches=3"),
    name_of_case);

// A whole that the ranks cannot share out evenly is refused.
TEST(ScatterGatherShares, AreEqual) {
  auto setup = small_model("tp=2 pp=2 heads=2 kv-heads=2 sequence=5 micro-batch=1");
  setup.scatter_gather = true;
  setup.model.hidden = 33;
  setup.model.head_dim = 8;
  const std::vector<Message> wrong = validate(setup);
  ASSERT_FALSE(wrong.empty());
  EXPECT_EQ(wrong.front().id, "scatter-gather-share") << wrong.front().text;
}

}  // namespace
}  // namespace parallelarium
