// SPDX-License-Identifier: Apache-2.0
// What the command devices says of a computer.
#include <gmock/gmock.h>

#include "engine/cli/computer/probe.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Devices, NamesBackendsAndWhyOneIsMissing) {
  const Folder folder;
  const Reply text = command({"devices"});
  EXPECT_EQ(text.status, kDone);
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("cores"), HasSubstr("cuda"), HasSubstr("NCCL"),
                                       HasSubstr("/dev/shm"), HasSubstr("memlock")));
  const json devices = command({"devices", "--json"}).json();
  EXPECT_GE(devices.at("cores"), 1);
  EXPECT_GE(devices.at("threads"), devices.at("cores"));
  EXPECT_GT(devices.at("memory_bytes"), 1 << 20);
  for (const json& backend : devices.at("backends")) {
    EXPECT_FALSE(backend.at("why").get<std::string>().empty());
    // Of GPUs the first may be too old.
    const bool available = backend.at("name") != "cuda" || backend.at("available");
    EXPECT_GE(backend.at("ranks"), available && backend.at("name") != "cuda" ? 1 : 0) << backend;
    if (!available) {
      EXPECT_EQ(backend.at("ranks"), 0) << backend;
    }
  }
  for (const json& fact : devices.at("facts"))
    EXPECT_FALSE(fact.at("found").get<std::string>().empty()) << fact;
}

// What works and is less than one would think.
TEST(Devices, TellOfGpusThatDriveADisplayOrHaveNoTensorCoresForBf16) {
  std::vector<GpuFacts> gpus(3);
  for (GpuFacts& gpu : gpus) gpu.name = "H100", gpu.major = 9;
  EXPECT_TRUE(facts_of_gpus(gpus).empty());
  gpus[1].name = "V100", gpus[1].major = 7;
  gpus[0].ends_long_kernels = gpus[2].ends_long_kernels = true;
  const std::vector<Fact> facts = facts_of_gpus(gpus);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].id, "gpu-display");
  EXPECT_THAT(facts[0].found.text, HasSubstr("GPU 0 (H100), GPU 2 (H100)"));
  EXPECT_THAT(facts[0].advice.text, HasSubstr("--devices"));
  EXPECT_EQ(facts[1].id, "gpu-bf16");
  EXPECT_THAT(facts[1].found.text, HasSubstr("GPU 1 (V100): no tensor cores for bf16"));
  EXPECT_EQ(facts[1].state, FactState::kLimited);
}

TEST(Devices, TellWhereGroupsOfNcclTakeTurns) {
  EXPECT_TRUE(facts_of_groups(12030, 2).empty());
  EXPECT_TRUE(facts_of_groups(12020, 1).empty()) << "nothing to communicate with";
  const std::vector<Fact> facts = facts_of_groups(12020, 2);
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_THAT(facts[0].found.text, HasSubstr("CUDA 12.2"));
  EXPECT_THAT(facts[0].advice.text, HasSubstr("driver 545"));
}

// As place() would have them.
TEST(CudaBackend, HasAsManyRanksAsUsableGpus) {
  const auto fact = [](std::vector<int> majors, Result<int> nccl = 22809) {
    std::vector<GpuFacts> gpus;
    for (const int major : majors) gpus.push_back({"H100", "", 80'000'000'000, major, 0, {}});
    return cuda_backend(gpus, nccl);
  };
  const Message missing = message("nccl-missing", "NCCL is not installed.");
  for (const int count : {1, 2, 3, 7}) {
    EXPECT_EQ(fact(std::vector<int>(std::size_t(count), 9)).ranks, count);
    EXPECT_EQ(fact(std::vector<int>(std::size_t(count), 9), missing).ranks, 1);
    EXPECT_EQ(fact(std::vector<int>(std::size_t(count), 9), 20000).ranks, 1);
  }
  EXPECT_EQ(fact({9, 9, 6, 9}).ranks, 3);
  const BackendFact later = fact({6, 9});
  EXPECT_TRUE(later.available);
  EXPECT_EQ(later.ranks, 1);
  EXPECT_THAT(later.why.text, HasSubstr("compute capability 6.0"));
  for (const BackendFact& none : {fact({6}), fact({6, 6}), cuda_backend(missing, missing)}) {
    EXPECT_FALSE(none.available) << none.why.text;
    EXPECT_EQ(none.ranks, 0);
    EXPECT_FALSE(none.why.text.empty());
  }
}

}  // namespace
}  // namespace parallelarium
