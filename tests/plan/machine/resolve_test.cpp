// SPDX-License-Identifier: Apache-2.0
// What `auto` stands for, by device; which calibration counts; and documents of other computers.
#include "engine/plan/placement/resolve.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/cores.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

Computer with_gpus(std::size_t count, bool bf16 = true) {
  Computer computer;
  computer.cores = 4;
  ComputerGpu gpu;
  gpu.name = bf16 ? "NVIDIA H100" : "Tesla V100";
  gpu.bf16 = bf16;
  computer.gpus.assign(count, gpu);
  return computer;
}

// A Machine of these GPUs, as a calibration stores it.
Machine calibration_of(const std::vector<std::string>& names) {
  Machine machine;
  machine.name = kLocalGpus;
  machine.local = true;
  set_gpus(machine, names);
  machine.devices_per_node = static_cast<int>(names.size());
  machine.calibrated = "2026-11-23";
  return machine;
}

FindMachine computer_that_kept(const Machine& gpus) {
  return [gpus](const std::string& name) -> Result<Machine> {
    if (name == kLocalGpus) return gpus;
    return find_machine(name);
  };
}

TEST(Resolve, ChoosesForTheDevicesOfTheRanks) {
  struct Case {
    Computer computer;
    const char* machine;
    const char* precision;
    Attention attention;
    Backend backend;
  };
  Computer few;
  few.cores = 2;
  const Case cases[] = {
      {with_gpus(0), "local", "fp32", Attention::kUnfused, Backend::kCpu},
      {few, "local", "fp32", Attention::kUnfused, Backend::kPaced},
      {with_gpus(4), "local", "mixed-16-main-grads", Attention::kFused, Backend::kCuda},
      {with_gpus(3), "local", "fp32", Attention::kUnfused, Backend::kCpu},
      {with_gpus(4, false), "local", "fp32", Attention::kFused, Backend::kCuda},
      {with_gpus(0), "dgx-h100", "mixed-16-main-grads", Attention::kFused, Backend::kCuda},
      {with_gpus(4), "hgx-v100", "fp32", Attention::kFused, Backend::kCuda},
  };
  for (const Case& one : cases) {
    parallelarium::Setup asked = new_setup();
    asked.machine = one.machine;
    const Result<Situation> situation = situation_of(asked, one.computer);
    ASSERT_TRUE(situation.ok());
    EXPECT_EQ(situation->asked, asked);
    const parallelarium::Setup& setup = situation->setup;
    EXPECT_TRUE(is_resolved(setup));
    EXPECT_EQ(setup.precision.name, one.precision) << one.machine << one.computer.gpus.size();
    EXPECT_EQ(setup.attention, one.attention);
    EXPECT_EQ(setup.run.backend, one.backend);
    EXPECT_EQ(situation->placement.has_value(), asked.machine == "local");
    EXPECT_TRUE(validate(setup).empty());
    EXPECT_FALSE(validate(asked).empty()) << "only resolved Setups are valid";
  }
}

// Attention is what can be run: where CP goes through keys block by block, no scores are kept.
TEST(Resolve, ChoosesFusedAttentionOnCoresWhereCpGoesByBlocks) {
  for (const auto& [kind, expected] : {std::pair(ContextParallel::kRing, Attention::kFused),
                                       {ContextParallel::kAllGather, Attention::kFused},
                                       {ContextParallel::kUlysses, Attention::kUnfused}}) {
    parallelarium::Setup setup = new_setup();
    setup.mesh = Mesh();
    setup.mesh.cp = 2;
    setup.context_parallel = kind;
    const parallelarium::Setup resolved = resolve(setup, Placement());
    EXPECT_EQ(resolved.attention, expected);
    EXPECT_TRUE(can_execute(resolved)) << can_execute(resolved).error().text;
  }
}

// So whoever asks only whether a Setup is valid may resolve it for any devices.
TEST(Resolve, MakesNoSetupMoreValidOnOneDeviceThanOnAnother) {
  Placement gpus;
  gpus.backend = Backend::kCuda;
  Placement old = gpus;
  old.bf16 = false;
  for (const SetupSetting& row : setup_settings()) {
    for (const char* value : {"0", "1", "2", "3", "7", "1000", "0.5"}) {
      parallelarium::Setup setup = new_setup();
      if (!set_field(setup, row.option, value)) continue;
      const auto faults = [&](const Placement& placement) {
        std::vector<std::string> texts;
        for (const Message& fault : validate(resolve(setup, placement)))
          texts.push_back(fault.field + ": " + fault.text);
        return texts;
      };
      EXPECT_EQ(faults(Placement()), faults(gpus)) << row.option << " " << value;
      EXPECT_EQ(faults(Placement()), faults(old)) << row.option << " " << value;
    }
  }
}

TEST(Resolve, LeavesWhatWasSaid) {
  parallelarium::Setup asked = new_setup();
  ASSERT_TRUE(set_field(asked, "precision", "bf16-states").ok());
  ASSERT_TRUE(set_field(asked, "backend", "cpu").ok());
  for (const std::size_t gpus : {std::size_t{0}, std::size_t{4}}) {
    const Result<Situation> situation = situation_of(asked, with_gpus(gpus));
    EXPECT_EQ(situation->setup.precision.name, "bf16-states");
    EXPECT_EQ(situation->setup.run.backend, Backend::kCpu);
    EXPECT_EQ(situation->setup.attention, Attention::kUnfused) << "the ranks are on cores";
  }
  const parallelarium::Setup whole = default_setup();
  EXPECT_EQ(resolve(whole, *find_machine("dgx-h100")).precision, whole.precision);
}

// A display, or a slower kind, is passed over: the Setup then says which GPUs are meant.
TEST(Resolve, NamesTheGpusWhereTheyAreNotTheFirst) {
  Computer computer = with_gpus(2);
  computer.gpus[0].display = true;
  parallelarium::Setup asked = new_setup();
  asked.mesh.pp = 1;
  EXPECT_EQ(situation_of(asked, computer)->setup.run.devices, "1");
  computer.gpus[0].display = false;
  EXPECT_EQ(situation_of(asked, computer)->setup.run.devices, "all");
}

// A Setup that this computer has no place for is predicted as it was asked for.
TEST(Resolve, TellsWhyThereIsNoPlace) {
  parallelarium::Setup asked = new_setup();
  asked.run.backend = Backend::kCuda;
  const Result<Situation> situation = situation_of(asked, with_gpus(0));
  ASSERT_TRUE(situation.ok());
  EXPECT_FALSE(situation->placement);
  ASSERT_TRUE(situation->refusal);
  EXPECT_EQ(situation->refusal->kind, "cuda-missing");
  EXPECT_EQ(situation->setup.precision.name, "mixed-16-main-grads");
}

TEST(Calibration, CountsForWhatItWasMadeOf) {
  const std::string h100 = "NVIDIA H100";
  parallelarium::Setup asked = new_setup();
  const auto machine_of = [&](const Machine& kept, const Computer& computer) {
    return situation_of(asked, computer, computer_that_kept(kept))->machine.name;
  };
  const Machine four = calibration_of({h100, h100, h100, h100});
  EXPECT_EQ(machine_of(four, with_gpus(4)), kLocalGpus);
  EXPECT_EQ(machine_of(four, with_gpus(5)), "local") << "another number";
  EXPECT_EQ(machine_of(four, with_gpus(0)), "local") << "the GPUs are gone";
  EXPECT_EQ(machine_of(calibration_of({"T4", "T4", "T4", "T4"}), with_gpus(4)), "local");
  // Of several kinds: rates are those of the slowest that was measured.
  Computer mixed = with_gpus(4);
  mixed.gpus[3].name = "T4";
  asked.mesh.pp = 3;
  Machine kind = calibration_of({h100, h100, h100});
  kind.pairs = {{0, 1, {}}, {0, 2, {}}, {1, 2, {}}};
  EXPECT_EQ(machine_of(kind, mixed), kLocalGpus);
  Machine all = calibration_of({h100, h100, h100, "T4"});
  all.pairs = {{0, 1, {}}, {2, 3, {}}};
  EXPECT_EQ(machine_of(all, mixed), "local");
  asked.mesh.pp = 4;
  EXPECT_EQ(machine_of(all, mixed), kLocalGpus);
  // All on one of four that were measured.
  asked.run.backend = Backend::kCuda;
  asked.run.devices = "0";
  EXPECT_EQ(machine_of(four, with_gpus(4)), kLocalGpus);
  asked.run.devices = "all";
  // Asked for by name and gone: predicted as they were.
  EXPECT_EQ(machine_of(four, with_gpus(0)), kLocalGpus);
  // Who names cores gets them.
  asked.run.backend = Backend::kPaced;
  EXPECT_EQ(machine_of(four, with_gpus(4)), "local");
}

// What the window says of GPUs, and which word a run will have.
TEST(Situation, KnowsItsGpusAndTheWordOfItsRun) {
  parallelarium::Setup asked = new_setup();
  asked.mesh.pp = 2;
  const FindMachine four =
      computer_that_kept(calibration_of(std::vector<std::string>(4, "NVIDIA H100")));
  const auto here = [&](std::size_t gpus, Backend backend) {
    asked.run.backend = backend;
    const Result<Situation> situation = situation_of(asked, with_gpus(gpus), four);
    EXPECT_TRUE(situation.ok());
    return *situation;
  };
  const Situation on_gpus = here(4, Backend::kAuto);
  EXPECT_TRUE(on_gpus.takes_gpus());
  EXPECT_EQ(gpus_for(on_gpus, with_gpus(4)), 4);
  EXPECT_EQ(expected_source(on_gpus.setup, on_gpus.machine), Source::kMeasured);
  const Situation paced = here(4, Backend::kPaced);
  EXPECT_FALSE(paced.on_local_gpus());
  EXPECT_EQ(gpus_for(paced, with_gpus(4)), 0);
  EXPECT_EQ(expected_source(paced.setup, paced.machine), Source::kPaced);
  Machine small = uncalibrated_local_machine();
  small.cores = 1;
  EXPECT_EQ(expected_source(here(0, Backend::kCpu).setup, small), Source::kOversubscribed);
  small.local = false;
  EXPECT_EQ(expected_source(here(0, Backend::kCpu).setup, small), Source::kPredicted);
  EXPECT_EQ(expected_source(paced.setup, small), Source::kPaced) << "acted out by these cores";
}

// Of three GPUs of a kind the second failed its check, and of two the first.
TEST(Calibration, CountsWithoutTheGpusThatFailed) {
  const std::string h100 = "NVIDIA H100";
  parallelarium::Setup asked = new_setup();
  Computer computer = with_gpus(3);
  computer.gpus[1].unusable = message("gpu-check-failed", "It failed.");
  Machine two = calibration_of({h100, h100});
  two.pairs = {{0, 2, {}}, {2, 0, {}}};
  const auto machine_of = [&](const Machine& kept) {
    return situation_of(asked, computer, computer_that_kept(kept))->machine.name;
  };
  asked.mesh.pp = 2;
  EXPECT_EQ(machine_of(two), kLocalGpus);
  computer = with_gpus(2);
  computer.gpus[0].unusable = message("gpu-check-failed", "It failed.");
  asked.mesh.pp = 1;
  EXPECT_EQ(machine_of(calibration_of({h100})), kLocalGpus);
}

// A driver that is newer, or older, than the calibration; a Machine from elsewhere keeps its own.
TEST(Calibration, TakesFromTheDriverWhetherGroupsTakeTurns) {
  parallelarium::Setup asked = new_setup();
  for (const bool stored : {false, true}) {
    Machine kept = calibration_of({"NVIDIA H100", "NVIDIA H100"});
    kept.groups_take_turns = stored;
    Computer computer = with_gpus(2);
    asked.mesh.pp = 2;
    const auto take_turns = [&] {
      const Result<Situation> situation = situation_of(asked, computer, computer_that_kept(kept));
      EXPECT_EQ(situation->machine.name, kLocalGpus);
      return situation->machine.groups_take_turns;
    };
    EXPECT_EQ(take_turns(), stored) << "nobody asked the driver";
    computer.groups_take_turns = !stored;
    EXPECT_EQ(take_turns(), !stored);
    asked.machine = kLocalGpus;  // named, as a file from elsewhere would be
    EXPECT_EQ(take_turns(), stored);
    asked.machine = "local";
  }
}

// A calibration of the cores of another computer, or of other cores of this one, is none of these.
TEST(Calibration, OfAnotherNumberOfCoresIsNoneOfThese) {
  Machine cores = uncalibrated_local_machine();
  cores.calibrated = "2026-11-23";
  ASSERT_TRUE(save_local_machine(cores).ok());
  EXPECT_EQ(find_machine("local")->calibrated, "2026-11-23");
  ++cores.cores;
  ASSERT_TRUE(save_local_machine(cores).ok());
  EXPECT_EQ(find_machine("local")->calibrated, "");
  EXPECT_EQ(find_machine("local")->cores, available_core_count());
}

TEST(Document, MeansOnAnotherComputerWhatItMeant) {
  const parallelarium::Setup asked = new_setup();
  const parallelarium::Setup laptop = situation_of(asked, with_gpus(0))->setup;
  const parallelarium::Setup gpus = situation_of(asked, with_gpus(4))->setup;
  EXPECT_EQ(kept_meaning(asked, laptop, laptop), asked) << "nothing is written out";
  const parallelarium::Setup kept = kept_meaning(asked, laptop, gpus);
  EXPECT_EQ(situation_of(kept, with_gpus(4))->setup, laptop);
  EXPECT_EQ(kept_meaning(laptop, laptop, gpus), laptop);
}

TEST(Document, TellsWhatItsSetupMeant) {
  const parallelarium::Setup asked = new_setup(), meant = default_setup();
  const nlohmann::json document = {{"format", "parallelarium-document/1"},
                                   {"setup", to_json(asked)},
                                   {"resolved", to_json(meant)}};
  EXPECT_EQ(*setup_from_json(document), asked);
  const Result<std::optional<parallelarium::Setup>> there = resolved_from_json(document);
  ASSERT_TRUE(there.ok());
  EXPECT_EQ(**there, meant);
  EXPECT_FALSE(resolved_from_json(to_json(asked))->has_value());
  nlohmann::json broken = document;
  broken["resolved"] = 3;
  EXPECT_FALSE(resolved_from_json(broken).ok());
}

TEST(Setup, IsReadAndWrittenWithAuto) {
  const parallelarium::Setup asked = new_setup();
  const nlohmann::json json = to_json(asked);
  EXPECT_EQ(json["precision"], "auto");
  EXPECT_EQ(json["attention"], "auto");
  EXPECT_EQ(*setup_from_json(json), asked);
  EXPECT_EQ(*setup_from_json(nlohmann::json::object()), asked) << "what a file says nothing of";
  parallelarium::Setup set = default_setup();
  ASSERT_TRUE(set_field(set, "precision", "auto").ok());
  ASSERT_TRUE(set_field(set, "attention", "auto").ok());
  EXPECT_EQ(set, asked);
}

// Its tensor cores multiply fp16 alone.
TEST(Machine, WithoutBf16HasThePeakOfFp32In16Bit) {
  const Machine v100 = *find_machine("hgx-v100"), h100 = *find_machine("dgx-h100");
  EXPECT_EQ(v100.peak_flops_per_second(2).value, v100.fp32_flops_per_second.value);
  EXPECT_EQ(h100.peak_flops_per_second(2).value, h100.half_flops_per_second.value);
  EXPECT_EQ(h100.peak_flops_per_second(4).value, h100.fp32_flops_per_second.value);
  EXPECT_FALSE(machine_from_json(to_json(v100))->bf16);
}

}  // namespace
}  // namespace parallelarium
