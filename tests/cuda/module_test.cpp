// SPDX-License-Identifier: Apache-2.0
// What is said where there is no GPU, no driver, no module; and errors as sentences.
#include "engine/run/gpu/module/module.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/uuid.h"
#include "engine/run/net/place.h"
#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

TEST(CudaModule, IsMissedInOneSentence) {
  const Result<CudaModule*> none =
      load_cuda_module({"/nowhere/libparallelarium-cuda.so"}, process_environment());
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, "cuda-missing");
  EXPECT_NE(none.error().text.find("libparallelarium-cuda.so"), std::string::npos);
}

TEST(CudaModule, ThatIsNoLibraryIsSaidToNotLoad) {
  const std::string file = testing::TempDir() + "/not-a-library.so";
  std::ofstream(file) << "text";
  const Result<CudaModule*> broken =
      load_cuda_module({"/nowhere/first", file}, process_environment());
  std::remove(file.c_str());
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().kind, "cuda-missing");
  EXPECT_NE(broken.error().text.find(file), std::string::npos) << broken.error().text;
}

// CUDA's libraries are loaded for a driver alone: a file that is no library is not opened.
TEST(CudaModule, IsNotLoadedWhereThereIsNoDriver) {
  const std::string file = testing::TempDir() + "/not-a-library.so";
  std::ofstream(file) << "text";
  const bool with_cuda =
      std::filesystem::exists(PARALLELARIUM_BINARY_DIR "/libparallelarium-cuda.so");
  EXPECT_EQ(load_for_driver({file}, true).error().id, "cuda-missing.module");
  EXPECT_EQ(load_for_driver({file}, false).error().id,
            with_cuda ? "cuda-missing.driver" : "cuda-missing.module");
  EXPECT_EQ(load_for_driver({"/nowhere/module.so"}, false).error().id, "cuda-missing.build");
  std::remove(file.c_str());
}

// cuBLAS of a wheel: the module needs a library that the system does not find by itself.
TEST(CudaModule, FindsItsLibrariesInTheWheelsOfTheUsersPython) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "module-wheels";
  fs::remove_all(folder);
  const fs::path module = folder / "module.so";
  const fs::path wheel = folder / "venv/lib/python3.11/site-packages/nvidia/cublas/lib";
  fs::create_directories(wheel);
  fs::copy_file(MODULE_STAND_IN, module);
  const auto environment = [&](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "VIRTUAL_ENV") return (folder / "venv").string();
    return std::nullopt;
  };
  const Result<CudaModule*> alone = load_cuda_module({module.string()}, environment);
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().text.find("libwheel_stand_in.so.7"), std::string::npos)
      << alone.error().text;
  fs::copy_file(WHEEL_STAND_IN, wheel / "libwheel_stand_in.so.7");
  // It loads now, and says by its symbol that it is of another version.
  const Result<CudaModule*> found = load_cuda_module({module.string()}, environment);
  fs::remove_all(folder);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text.find("another version"), std::string::npos) << found.error().text;
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
  EXPECT_EQ(gpus.error().kind, "cuda-missing");
  EXPECT_EQ(choice.error().field, "run.backend");
  EXPECT_EQ(choice.error().text, gpus.error().text);
  EXPECT_EQ(choice.error().text.find('\n'), std::string::npos);
}

// A build is for GPUs from the least architecture on that it was compiled for.
TEST(GpuChoice, ComparesWithTheLeastCompiledArchitecture) {
  GpuFacts gpu;
  gpu.name = "Tesla V100", gpu.major = 7, gpu.minor = 0;
  for (const auto& [least, runs] : {std::pair{70, true}, {75, false}, {80, false}}) {
    gpu.least_capability = least;
    EXPECT_EQ(check_gpu(gpu).ok(), runs) << least;
  }
  EXPECT_EQ(check_gpu(gpu).error().text,
            "Tesla V100 has compute capability 7.0, and this build has code for 8.0 and newer; "
            "choose other GPUs with --devices, or cpu.");
  EXPECT_FALSE(has_bf16_tensor_cores(gpu));
  gpu.major = 12, gpu.least_capability = 100;
  EXPECT_TRUE(check_gpu(gpu).ok());
  EXPECT_TRUE(has_bf16_tensor_cores(gpu));
  EXPECT_TRUE(check_gpu(GpuFacts{}).ok()) << "it does not say";
}

TEST(GpuUuidText, TellsSlicesOfOneGpuApart) {
  GpuUuid whole{}, first{}, second{};
  whole[0] = 0x6f, first[15] = 1, second[15] = 2;
  EXPECT_EQ(uuid_text(whole, whole), "GPU-6f000000-0000-0000-0000-000000000000");
  EXPECT_EQ(uuid_text(whole, {}), uuid_text(whole, whole)) << "an older driver";
  EXPECT_EQ(uuid_text(whole, first), "MIG-00000000-0000-0000-0000-000000000001");
  EXPECT_NE(uuid_text(whole, first), uuid_text(whole, second));
  EXPECT_EQ(uuid_text({}, {}), "");
}

// CUDA reads the variable at its first call, so programs begin with this.
TEST(Kernels, AreLoadedAtOnceWhereSeveralGpusMayShareAProcess) {
  static constexpr const char* kNames[] = {
      "CUDA_MODULE_LOADING", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "RANK",
      "WORLD_SIZE",          "LOCAL_RANK",           "LOCAL_WORLD_SIZE",  "MASTER_ADDR",
      "MASTER_PORT"};
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
  EXPECT_STREQ(std::getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID") << "numbers are nvidia-smi's";
  setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
  EXPECT_EQ(loading("3"), "");
  EXPECT_STREQ(std::getenv("CUDA_DEVICE_ORDER"), "FASTEST_FIRST") << "the user's";
  if (!std::filesystem::exists("/proc/driver/nvidia/gpus")) {
    // As under WSL2: how many there are is not known.
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_MODULE_LOADING");
    prepare_for_gpus();
    EXPECT_STREQ(std::getenv("CUDA_MODULE_LOADING"), "EAGER");
  }
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

TEST(Computer, TellsOfGpusThatThisBuildHasNoCodeFor) {
  std::vector<GpuFacts> facts(3);
  facts[0].name = "H100", facts[0].major = 9, facts[0].memory_bytes = 80'000'000'000;
  facts[1].name = "P100", facts[1].major = 6;
  facts[2].name = "T4", facts[2].major = 7, facts[2].minor = 5;
  const Computer computer = computer_of(4, facts);
  ASSERT_EQ(computer.gpus.size(), 3u);
  EXPECT_EQ(computer.cores, 4);
  EXPECT_FALSE(computer.gpus[0].unusable);
  EXPECT_TRUE(computer.gpus[0].bf16);
  EXPECT_EQ(computer.gpus[0].memory_bytes, 80'000'000'000);
  ASSERT_TRUE(computer.gpus[1].unusable);
  EXPECT_EQ(computer.gpus[1].unusable->id, "gpu-old");
  EXPECT_EQ(computer.gpus[1].unusable->text.rfind("P100 has compute capability 6.0", 0), 0u);
  EXPECT_FALSE(computer.gpus[2].bf16) << "its tensor cores know fp16 alone";
  const Computer none = computer_of(2, message("cuda-missing", "No NVIDIA driver answers."));
  EXPECT_TRUE(none.gpus.empty());
  EXPECT_EQ(none.no_gpus->text, "No NVIDIA driver answers.");
}

// Cores alone decide where only they are wanted: the driver is not even asked.
TEST(Computer, IsAskedForGpusOnlyWhereTheyMayBeChosen) {
  RunSettings run;
  for (const Backend backend : {Backend::kCpu, Backend::kPaced}) {
    run.backend = backend;
    const Computer computer = computer_here(run, 2);
    EXPECT_TRUE(computer.gpus.empty());
    EXPECT_FALSE(computer.no_gpus) << "nobody looked";
    EXPECT_GT(computer.cores, 0);
  }
  run.backend = Backend::kCuda;
  const Computer asked = computer_here(run, 2);
  EXPECT_NE(asked.gpus.empty(), asked.no_gpus == std::nullopt);
  const ProcessPlace second{"torchrun", 1, 2, 1, 2, "127.0.0.1", 29500};
  EXPECT_EQ(computer_here(run, 2, &second).launched, (Launched{"torchrun", 2, 1, 2}));
}

TEST(CudaFaults, SayWhatToChange) {
  EXPECT_EQ(cuda_missing(35, "", 12020, 13000).text,
            "The NVIDIA driver is for CUDA 12.2 and this build needs 13.0; install driver 580 or "
            "newer, or choose cpu.");
  EXPECT_EQ(cuda_missing(35, "", 0, 13000).text,
            "No NVIDIA driver answers; install one for CUDA 13.0 (driver 580 or newer), or choose "
            "cpu.");
  EXPECT_NE(cuda_missing(35, "", 11080, 12080).text.find("driver 525 or newer"), std::string::npos)
      << "any of the major version runs it";
  EXPECT_EQ(cuda_failure(222, "", "adamw", 12080).text,
            "For this GPU the NVIDIA driver has to compile this build's code (adamw) and is too "
            "old for it; install driver 570 or newer, or choose cpu.");
  EXPECT_NE(cuda_missing(222, "", 12020, 13090).text.find("a driver for CUDA 13.9 or newer"),
            std::string::npos)
      << "newer than the table";
  EXPECT_EQ(driver_branch(12070), 570) << "there was no 12.7; the next has it";
  EXPECT_EQ(gpu_memory_short(2'500'000'001, 1'999'999).text,
            "A rank needs 2501 MB on the GPU and 1 MB are free; a smaller model, micro-batch or "
            "sequence needs less.");
  EXPECT_NE(cublas_failure(15, "linear_forward", 3).text.find("choose precision fp32"),
            std::string::npos);
  EXPECT_EQ(cublas_failure(13, "linear_forward", 3).text,
            "cuBLASLt failed in linear_forward (status 13) on rank 3.");
  EXPECT_EQ(cuda_failure(999, "unknown error", "adamw").text,
            "CUDA failed in adamw: unknown error (error 999).");
  for (const int status : {2, 34, 35, 46, 100, 209, 214, 222, 700, 701, 702, 719, 802, 803, 999}) {
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
