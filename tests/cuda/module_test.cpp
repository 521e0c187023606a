// SPDX-License-Identifier: Apache-2.0
// What is said where there is no GPU, no driver, no module; and errors as sentences.
#include "engine/run/gpu/module.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "engine/run/gpu/faults.h"
#include "engine/run/net/place.h"
#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

TEST(CudaModule, IsMissedInOneSentence) {
  const Result<CudaModule*> none = load_cuda_module({"/nowhere/libparallelarium-cuda.so"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().id, "cuda-missing");
  EXPECT_NE(none.error().text.find("libparallelarium-cuda.so"), std::string::npos);
}

TEST(CudaModule, ThatIsNoLibraryIsSaidToNotLoad) {
  const std::string file = testing::TempDir() + "/not-a-library.so";
  std::ofstream(file) << "text";
  const Result<CudaModule*> broken = load_cuda_module({"/nowhere/first", file});
  std::remove(file.c_str());
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().id, "cuda-missing");
  EXPECT_NE(broken.error().text.find(file), std::string::npos) << broken.error().text;
}

// With or without CUDA in this build, with or without a GPU in this computer.
TEST(CudaModule, AnswersOrSaysWhyNot) {
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  parallelarium::Setup setup = small_setup(1, 1, 1);
  setup.run.backend = Backend::kCuda;
  const Result<BackendChoice> choice = choose_backend(setup);
  EXPECT_EQ(choice.ok(), gpus.ok());
  if (gpus) {
    ASSERT_FALSE(gpus->empty());
    EXPECT_EQ(choice->source, Source::kMeasured);
    setup.mesh.dp = 2;
    setup.run.devices = "0";  // where there are several, these ranks would have one each
    const Result<BackendChoice> shared = choose_backend(setup);
    ASSERT_TRUE(shared.ok()) << shared.error().text;
    EXPECT_EQ(shared->source, Source::kSharedGpu);
    return;
  }
  EXPECT_EQ(gpus.error().id, "cuda-missing");
  EXPECT_EQ(choice.error().field, "run.backend");
  EXPECT_EQ(choice.error().text, gpus.error().text);
  EXPECT_EQ(choice.error().text.find('\n'), std::string::npos);
}

// Two ranks of each kind of mesh on computers with 1, 2 and 4 GPUs.
TEST(GpuChoice, GivesEveryRankAGpuOrPutsAllOnOneOrSaysWhy) {
  const auto computer = [](std::size_t count) {
    GpuFacts gpu;
    gpu.name = "H100";
    return std::vector<GpuFacts>(count, gpu);
  };
  parallelarium::Setup setup = small_setup(1, 2, 1);
  const Result<BackendChoice> each = choose_gpus(setup, computer(4), nullptr);
  ASSERT_TRUE(each.ok());
  EXPECT_EQ(each->gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(each->source, Source::kMeasured);
  EXPECT_EQ(each->why.text, "2 ranks on a H100 each: measured");
  setup.run.devices = "3,1";
  EXPECT_EQ(choose_gpus(setup, computer(4), nullptr)->gpus, (std::vector<int>{3, 1}));
  const Result<BackendChoice> absent = choose_gpus(setup, computer(2), nullptr);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().text, "There is no GPU 3; this computer has GPUs 0 to 1.");
  EXPECT_EQ(absent.error().field, "run.devices");
  setup.run.devices = "1";
  const Result<BackendChoice> shared = choose_gpus(setup, computer(2), nullptr);
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->gpus, (std::vector<int>{1, 1}));
  EXPECT_EQ(shared->source, Source::kSharedGpu);
  setup.run.devices = "all";
  setup.mesh.dp = 3;
  const Result<BackendChoice> few = choose_gpus(setup, computer(2), nullptr);
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().text,
            "3 ranks are more than 2 GPUs, and several ranks share one GPU only alone; use "
            "--devices 0 to put all on one, or 2 ranks.");
  const ProcessPlace second{"torchrun", 1, 3, 1, 3, "127.0.0.1", 29500};
  EXPECT_EQ(choose_gpus(setup, computer(4), &second)->gpus[1], 1);
  EXPECT_FALSE(choose_gpus(setup, computer(2), &second).ok());
  // As srun --gpus-per-task=1 starts them: each process sees its own GPU alone.
  const Result<BackendChoice> given = choose_gpus(setup, computer(1), &second, true);
  ASSERT_TRUE(given.ok()) << given.error().text;
  EXPECT_EQ(given->gpus[1], 0);
  EXPECT_EQ(given->source, Source::kMeasured);
  EXPECT_EQ(given->why.text, "3 ranks on a H100 each: measured");
  EXPECT_FALSE(choose_gpus(setup, computer(1), &second).ok());
  EXPECT_FALSE(choose_gpus(setup, computer(2), &second, true).ok()) << "two for three processes";
  EXPECT_EQ(choose_gpus(setup, computer(4), &second, true)->gpus[1], 1) << "all see all";
}

struct Found {
  std::size_t gpus = 0;
  int cores = 1;
  bool nccl = true;
};
Computer computer_with(const Found& found) {
  Computer computer;
  computer.cores = found.cores;
  computer.gpus = [count = found.gpus]() -> Result<std::vector<GpuFacts>> {
    if (count == 0) return message("cuda-missing", "No NVIDIA driver answers.");
    GpuFacts gpu;
    gpu.name = "H100";
    return std::vector<GpuFacts>(count, gpu);
  };
  computer.nccl = [there = found.nccl]() -> Result<void> {
    if (!there) return message("nccl-missing", "There is no NCCL.");
    return {};
  };
  return computer;
}

// Two ranks, or one.
TEST(AutoBackend, TakesGpusForAllRanksElseCoresElsePacesAndSaysWhy) {
  struct Case {
    int ranks;
    Found found;
    Backend backend;
    const char* why;
  };
  const Case cases[] = {
      {2, {2, 1, true}, Backend::kCuda, "2 ranks on a H100 each: measured"},
      {1, {1, 1, false}, Backend::kCuda, "1 rank on H100: measured"},
      {2, {0, 2, true}, Backend::kCpu, "2 ranks on 2 cores: measured"},
      {2, {0, 1, true}, Backend::kPaced, "2 ranks on 1 core: paced"},
      {2,
       {1, 2, true},
       Backend::kCpu,
       "2 ranks on 2 cores: measured (all on the one GPU with --backend cuda)"},
      {2,
       {2, 1, false},
       Backend::kPaced,
       "2 ranks on 1 core: paced (not on GPUs: There is no NCCL)"},
      {3,
       {2, 3, true},
       Backend::kCpu,
       "3 ranks on 3 cores: measured (not on GPUs: 3 ranks are more than 2 GPUs, and several ranks "
       "share one GPU only alone; use --devices 0 to put all on one, or 2 ranks)"}};
  for (const Case& one : cases) {
    parallelarium::Setup setup = small_setup(1, one.ranks, 1);
    setup.run.backend = Backend::kAuto;
    const Result<BackendChoice> choice = choose_backend(setup, nullptr, computer_with(one.found));
    ASSERT_TRUE(choice.ok()) << choice.error().text;
    EXPECT_EQ(choice->backend, one.backend) << one.why;
    EXPECT_EQ(choice->why.text, one.why);
    EXPECT_EQ(choice->gpus.size(), one.backend == Backend::kCuda ? one.ranks : 0U);
  }
}

TEST(AutoBackend, IsBoundByDevicesThatAreNamedAndNotByCollectives) {
  parallelarium::Setup setup = small_setup(1, 2, 1);
  setup.run.backend = Backend::kAuto;
  setup.run.devices = "5";
  const Result<BackendChoice> absent = choose_backend(setup, nullptr, computer_with({2, 4}));
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().field, "run.devices");
  setup.run.devices = "1";
  EXPECT_EQ(choose_backend(setup, nullptr, computer_with({2, 4}))->backend, Backend::kCpu);
  setup.run.devices = "all";
  setup.collectives = "ring";  // by sends and receives of NCCL
  EXPECT_EQ(choose_backend(setup, nullptr, computer_with({2, 4}))->backend, Backend::kCuda);
  setup.run.backend = Backend::kCuda;
  setup.run.devices = "0";
  EXPECT_EQ(choose_backend(setup, nullptr, computer_with({2, 4}))->source, Source::kSharedGpu);
  // A process for each rank: it takes the GPU of its local number.
  setup.run = {};
  setup.collectives = "direct";
  const ProcessPlace second{"torchrun", 1, 2, 1, 2, "127.0.0.1", 29500};
  EXPECT_EQ(choose_backend(setup, &second, computer_with({2, 4}))->gpus[1], 1);
  EXPECT_EQ(choose_backend(setup, &second, computer_with({1, 4}))->backend, Backend::kCpu);
}

TEST(AutoBackend, TakesTheOneGpuThatALauncherGivesEachProcess) {
  parallelarium::Setup setup = small_setup(1, 2, 1);
  setup.run.backend = Backend::kAuto;
  const ProcessPlace second{"Slurm", 1, 2, 1, 2, "127.0.0.1", 29500};
  Computer computer = computer_with({1, 4});
  EXPECT_EQ(choose_backend(setup, &second, computer)->backend, Backend::kCpu);
  computer.gpus_given = true;
  const Result<BackendChoice> choice = choose_backend(setup, &second, computer);
  EXPECT_EQ(choice->backend, Backend::kCuda);
  EXPECT_EQ(choice->gpus[1], 0);
}

// CUDA reads the variable at its first call, so programs begin with this.
TEST(Kernels, AreLoadedAtOnceWhereSeveralGpusMayShareAProcess) {
  static constexpr const char* kNames[] = {
      "CUDA_MODULE_LOADING", "CUDA_VISIBLE_DEVICES", "RANK",        "WORLD_SIZE",
      "LOCAL_RANK",          "LOCAL_WORLD_SIZE",     "MASTER_ADDR", "MASTER_PORT"};
  std::map<std::string, std::string> kept;
  for (const char* name : kNames) {
    if (const char* value = std::getenv(name); value != nullptr) kept[name] = value;
    unsetenv(name);
  }
  const auto loading = [](const char* visible) {
    unsetenv("CUDA_MODULE_LOADING");
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    prepare_for_gpus();
    const char* const value = std::getenv("CUDA_MODULE_LOADING");
    return std::string(value != nullptr ? value : "");
  };
  EXPECT_EQ(loading("0,3"), "EAGER");
  EXPECT_EQ(loading("3"), "");
  setenv("CUDA_MODULE_LOADING", "LAZY", 1);
  prepare_for_gpus();
  EXPECT_STREQ(std::getenv("CUDA_MODULE_LOADING"), "LAZY") << "the user's";
  // A process of its own for each rank, with one GPU for it.
  for (const auto& [name, value] : {std::pair{"RANK", "1"},
                                    {"WORLD_SIZE", "2"},
                                    {"LOCAL_RANK", "1"},
                                    {"LOCAL_WORLD_SIZE", "2"},
                                    {"MASTER_ADDR", "127.0.0.1"},
                                    {"MASTER_PORT", "29500"}})
    setenv(name, value, 1);
  EXPECT_EQ(loading("0,3"), "");
  for (const char* name : kNames) unsetenv(name);
  for (const auto& [name, value] : kept) setenv(name.c_str(), value.c_str(), 1);
}

// As for training, but that a collective is never paced and has up to 64 ranks.
TEST(CollectiveBackend, TakesGpusForAllRanksElseCoresThatRanksMayShare) {
  RunSettings run;
  const auto chosen = [&](int ranks, const Found& found) {
    return choose_collective_backend(run, ranks, computer_with(found));
  };
  EXPECT_EQ(chosen(4, {4, 2})->backend, Backend::kCuda);
  EXPECT_EQ(chosen(4, {4, 2})->why.text, "4 ranks on a H100 each: measured");
  EXPECT_EQ(chosen(64, {4, 2})->backend, Backend::kCpu);
  EXPECT_EQ(chosen(64, {0, 2})->why.text, "64 ranks on 2 cores: oversubscribed");
  EXPECT_EQ(chosen(2, {0, 2})->source, Source::kMeasured);
  run.devices = "1,0";
  EXPECT_EQ(chosen(2, {4, 2})->gpus, (std::vector<int>{1, 0}));
  run.backend = Backend::kCuda;
  EXPECT_EQ(chosen(3, {4, 2}).error().id, "gpus-few");
  run.devices = "2";
  EXPECT_EQ(chosen(3, {4, 2})->source, Source::kSharedGpu);
  run.devices = "two";
  EXPECT_EQ(chosen(3, {4, 2}).error().field, "run.devices");
  run.devices = "all";
  EXPECT_EQ(chosen(2, {0, 2}).error().text, "No NVIDIA driver answers.");
  EXPECT_EQ(chosen(2, {0, 2}).error().alternatives, (std::vector<std::string>{"auto", "cpu"}));
  EXPECT_EQ(chosen(2, {2, 2, false}).error().id, "nccl-missing");
  run.backend = Backend::kPaced;
  EXPECT_EQ(chosen(2, {2, 2}).error().field, "run.backend");
}

TEST(AutoBackend, TakesNoGpuThatThisBuildHasNoCodeFor) {
  Computer computer = computer_with({2, 4});
  computer.gpus = []() -> Result<std::vector<GpuFacts>> {
    std::vector<GpuFacts> gpus(2);
    gpus[0].name = "H100", gpus[0].major = 9;
    gpus[1].name = "P100", gpus[1].major = 6;
    return gpus;
  };
  parallelarium::Setup setup = small_setup(1, 2, 1);
  EXPECT_EQ(choose_backend(setup, nullptr, computer)->backend, Backend::kCpu);
  setup.run.backend = Backend::kCuda;
  const Result<BackendChoice> both = choose_backend(setup, nullptr, computer);
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().id, "gpu-old");
  EXPECT_EQ(both.error().text.rfind("P100 has compute capability 6.0", 0), 0u) << both.error().text;
  setup.run.devices = "0";
  EXPECT_TRUE(choose_backend(setup, nullptr, computer).ok());
}

// Cores alone decide where only they are wanted: the driver is not even asked.
TEST(AutoBackend, AsksForGpusOnlyWhereTheyMayBeChosen) {
  Computer computer = computer_with({2, 4});
  computer.gpus = []() -> Result<std::vector<GpuFacts>> {
    ADD_FAILURE() << "asked for GPUs";
    return message("cuda-missing", "");
  };
  parallelarium::Setup setup = small_setup(1, 2, 1);
  for (const Backend backend : {Backend::kCpu, Backend::kPaced}) {
    setup.run.backend = backend;
    EXPECT_EQ(choose_backend(setup, nullptr, computer)->backend, backend);
  }
  computer.driver = false;
  setup.run.backend = Backend::kAuto;
  EXPECT_EQ(choose_backend(setup, nullptr, computer)->backend, Backend::kCpu);
}

TEST(CudaFaults, SayWhatToChange) {
  EXPECT_EQ(cuda_missing(35, "", 12020, 13000).text,
            "The NVIDIA driver is for CUDA 12.2 and this build needs 13.0; install a newer driver, "
            "or choose cpu.");
  EXPECT_EQ(cuda_missing(35, "", 0, 13000).text,
            "No NVIDIA driver answers; install one for CUDA 13.0, or choose cpu.");
  EXPECT_EQ(gpu_memory_short(2'500'000'001, 1'999'999).text,
            "A rank needs 2501 MB on the GPU and 1 MB are free; a smaller model, micro-batch or "
            "sequence needs less.");
  EXPECT_EQ(cuda_failure(999, "unknown error", "adamw").text,
            "CUDA failed in adamw: unknown error (error 999).");
  for (const int status : {2, 34, 35, 46, 100, 209, 214, 700, 701, 702, 719, 802, 803, 999}) {
    for (const Message& why :
         {cuda_missing(status, "words", 0, 13000), cuda_failure(status, "words", "softmax")}) {
      EXPECT_EQ(why.text.back(), '.');
      EXPECT_EQ(why.text.find('\n'), std::string::npos);
    }
    EXPECT_NE(cuda_failure(status, "words", "softmax").text.find("softmax"), std::string::npos);
  }
}

}  // namespace
}  // namespace parallelarium
