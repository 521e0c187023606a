// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/plan/setup/setup.h"

namespace parallelarium {
namespace {

std::filesystem::path data_folder() {
  return std::filesystem::path(testing::TempDir()) / "parallelarium";
}

TEST(Machines, EveryPresetCanPredictAndEveryNumberHasAnOrigin) {
  for (const std::string& name : machine_names()) {
    const Result<Machine> machine = find_machine(name);
    ASSERT_TRUE(machine.ok()) << name << ": " << machine.error().text;
    EXPECT_EQ(machine->name, name);
    EXPECT_EQ(machine->local, name == "local");
    for (const Sourced* number :
         {&machine->memory_bytes, &machine->memory_bytes_per_second,
          &machine->fp32_flops_per_second, &machine->half_flops_per_second,
          &machine->matmul_efficiency, &machine->launch_seconds,
          &machine->intra_node.latency_seconds, &machine->intra_node.bytes_per_second,
          &machine->inter_node.latency_seconds, &machine->inter_node.bytes_per_second}) {
      EXPECT_GT(number->value, 0) << name;
      EXPECT_NE(number->origin.kind, OriginKind::kOther) << name << ": " << text_of(number->origin);
    }
    EXPECT_LE(machine->matmul_efficiency.value, 1) << name;
    EXPECT_GE(machine->intra_node.bytes_per_second.value,
              machine->inter_node.bytes_per_second.value)
        << name;
  }
}

// 989.4 / 3.35: the ridge of the H100's roofline, and one direction of its NVLink is 450 GB/s.
TEST(Machines, H100HasItsRidge) {
  const Result<Machine> machine = find_machine("dgx-h100");
  ASSERT_TRUE(machine.ok());
  EXPECT_NEAR(machine->half_flops_per_second.value / machine->memory_bytes_per_second.value, 295,
              0.5);
  EXPECT_LT(machine->intra_node.bytes_per_second.value, 450e9);
}

TEST(Machines, PredictionWordSaysWhereRatesComeFrom) {
  Machine machine = uncalibrated_local_machine();
  EXPECT_EQ(prediction_word(machine), "assumed");
  EXPECT_EQ(prediction_word(*find_machine("dgx-a100-80g")), "published");
  machine.matmul_efficiency.origin = origin_of("published by the maker");
  EXPECT_EQ(prediction_word(machine), "published");
  machine.matmul_efficiency.value = 1;
  EXPECT_EQ(prediction_word(machine), "peak");
  machine.calibrated = "2026-11-21 on host";
  EXPECT_EQ(prediction_word(machine), "calibrated");
}

TEST(Machines, CalibrationComesBackAsItWasSaved) {
  Machine machine = uncalibrated_local_machine();
  EXPECT_EQ(*find_machine("local"), machine);
  machine.calibrated = "2026-11-21 on \"host\"";
  machine.matmuls = {{64, 32, 16, 1.25e10}, {1, 1, 1, 3e6}};
  machine.matmuls[0].phase = "input gradient";
  machine.matmuls[1].type = "bfloat16";
  for (const auto& [kernel, rate] :
       {std::pair{"norm", 3.5e8}, {"adamw", 1e9}, {"router", 4e7}, {"dispatch_grad", 5e9}}) {
    machine.kernels.emplace_back().kernel = kernel;
    machine.kernels.back().elements_per_second = {rate};
  }
  machine.kernels[0].elements = 8192;
  machine.kernels.push_back(machine.kernels.front());
  machine.kernels.back().type = "bfloat16";
  machine.collectives = {
      {"all_to_all",
       2,
       {{3e-6, origin_of("measured")}, {9e9, origin_of("measured on our cluster")}}}};
  machine.transfers = {{64, 1e-6, 1.5e-6, 1.8e-6, 2.5e-6, 1e-7, 3e-8, 1.5, 1.2, 8, 2e-6, 3e-6,
                        measured_here("2026-11-21")},
                       {4096, 2e-6, 2.7e-6, 3.1e-6, 4.9e-6, 9e-7, 4e-7, 1.4, 1.3, 8, 4e-6, 6e-6,
                        measured_here("2026-11-21")}};
  machine.launch_seconds = {1.5e-6, measured_here("2026-11-21")};
  ASSERT_TRUE(save_local_machine(machine).ok());
  const Result<Machine> again = find_machine("local");
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, machine);
  // Nothing but the file is left.
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(data_folder()))
    ++files;
  EXPECT_EQ(files, 1);
}

TEST(Machines, TimesOfMessagesThatCannotBeAreRefused) {
  Machine machine = uncalibrated_local_machine();
  const TransferPoint small{
      64, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1, 1, 2, 1e-6, 1e-6, measured_here("2026-11-21")};
  machine.transfers = {small, small};
  EXPECT_EQ(machine_from_json(to_json(machine)).error().id, "transfers-order");
  machine.transfers = {small};
  nlohmann::json json = to_json(machine);
  EXPECT_TRUE(machine_from_json(json).ok());
  json["transfers"][0]["both"] = 0;
  EXPECT_FALSE(machine_from_json(json).ok());
  json["transfers"][0].erase("both");
  EXPECT_EQ(machine_from_json(json).error().text, "machine.transfers.both is missing.");
}

TEST(Machines, NetworksComeBackAsTheyWereWritten) {
  Machine machine = *find_machine("dgx-h100");
  const nlohmann::json plain = to_json(machine);
  for (const char* key :
       {"nics_per_node", "nodes_per_leaf", "oversubscription", "in_network_reduction"})
    EXPECT_FALSE(plain.contains(key)) << key;
  machine.nics_per_node = {4, origin_of("counted")};
  machine.nodes_per_leaf = {384, origin_of("published in a paper")};
  machine.oversubscription = {7, origin_of("published in a paper")};
  machine.in_network_reduction = true;
  const Result<Machine> again = machine_from_json(to_json(machine));
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, machine);
  EXPECT_EQ(machine.nics_of_device(), 0.5);
  machine.nics_per_node.value = 16;
  EXPECT_EQ(machine.nics_of_device(), 1);
}

TEST(Machines, NetworksThatCannotBeAreRefused) {
  const nlohmann::json plain = to_json(*find_machine("dgx-h100"));
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json json = plain;
    json[key] = value;
    const Result<Machine> read = machine_from_json(json);
    EXPECT_FALSE(read.ok()) << key << " " << value;
    return read ? std::string() : read.error().text;
  };
  const auto number = [](double value) {
    return nlohmann::json{{"value", value}, {"origin", "test"}};
  };
  for (const char* key : {"nics_per_node", "nodes_per_leaf"})
    for (const double value : {0.0, 0.5, 2.5, 65'537.0})
      EXPECT_EQ(refused(key, number(value)),
                "machine." + std::string(key) + " must be a whole number from 1 to 65,536.");
  EXPECT_NE(refused("nics_per_node", number(-1)), "");
  EXPECT_EQ(refused("nics_per_node", 4), "machine.nics_per_node must be an object in braces.");
  for (const double value : {0.0, 0.99, 101.0})
    EXPECT_EQ(refused("oversubscription", number(value)),
              "machine.oversubscription must be from 1 to 100.");
  EXPECT_NE(refused("in_network_reduction", 1), "");
  EXPECT_NE(refused("nics", number(4)), "") << "no such key";
}

TEST(Machines, OlderCalibrationsTellNeitherPhasesNorSizes) {
  Machine machine = uncalibrated_local_machine();
  machine.matmuls = {{64, 32, 16, 1.25e10}};
  machine.matmuls[0].phase = "forward";
  machine.kernels.resize(1);
  machine.kernels[0].kernel = "norm";
  machine.kernels[0].elements_per_second = {3.5e8, measured_here("2026-11-21")};
  nlohmann::json json = to_json(machine);
  json["matmuls"][0].erase("phase");
  json["kernels"][0].erase("elements");
  for (const char* list : {"matmuls", "kernels"}) json[list][0].erase("type");
  const Result<Machine> older = machine_from_json(json);
  ASSERT_TRUE(older.ok()) << older.error().text;
  machine.matmuls[0].phase.clear();
  EXPECT_EQ(*older, machine);
}

TEST(Machines, RatesOfUnknownTypesAreRefused) {
  Machine machine = uncalibrated_local_machine();
  machine.kernels.resize(1);
  machine.kernels[0].type = "bf16";
  const Result<Machine> read = machine_from_json(to_json(machine));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().id, "rate-type");
}

TEST(Machines, CoresTellHowTheyMultipliedBf16) {
  Machine machine = uncalibrated_local_machine();
  EXPECT_EQ(machine_from_json(to_json(machine))->bf16_products, "") << "never measured";
  for (const char* way : {kNativeBf16, kWidenedBf16}) {
    machine.bf16_products = way;
    EXPECT_EQ(*machine_from_json(to_json(machine)), machine) << way;
  }
  machine.bf16_products = "by hand";
  const Result<Machine> read = machine_from_json(to_json(machine));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().id, "bf16-products");
}

// Older versions widened bf16 where this one may not, and did not tell.
TEST(Machines, RatesOfAnotherWayToMultiplyBf16AreOutdated) {
  Machine machine = uncalibrated_local_machine();
  const auto why = [&](const char* then, const char* now) {
    machine.bf16_products = then;
    const std::optional<Message> outdated = outdated_bf16(machine, now);
    return outdated ? outdated->id : std::string();
  };
  EXPECT_EQ(why("", kNativeBf16), "") << "never measured";
  machine.calibrated = "2026-11-22 on host";
  EXPECT_EQ(why("", kNativeBf16), "bf16-untold");
  EXPECT_EQ(why("", ""), "bf16-untold");
  EXPECT_EQ(why("", kWidenedBf16), "");
  EXPECT_EQ(why(kWidenedBf16, kNativeBf16), "bf16-otherwise");
  EXPECT_EQ(why(kNativeBf16, kWidenedBf16), "bf16-otherwise");
  for (const char* way : {kNativeBf16, kWidenedBf16}) {
    EXPECT_EQ(why(way, way), "");
    EXPECT_EQ(why(way, ""), "") << "nobody has told";
  }
  parallelarium::Setup setup = default_setup();
  machine.bf16_products.clear();
  EXPECT_FALSE(outdated_rates(setup, machine)) << "fp32 goes as it went";
  ASSERT_TRUE(set_field(setup, "precision", "mixed-16").ok());
  EXPECT_TRUE(outdated_rates(setup, machine));
  EXPECT_FALSE(outdated_rates(setup, *find_machine("dgx-h100")));
  machine.cores = 0;
  EXPECT_FALSE(outdated_rates(setup, machine)) << "GPUs";
}

// Files of older versions do not tell how much.
TEST(Machines, ACalibrationSaysWhereOtherProgramsUsedItsCores) {
  Machine machine = uncalibrated_local_machine();
  machine.cores = 4;
  machine.calibrated = "2026-11-27 on host";
  EXPECT_FALSE(to_json(machine).contains("cores_used_by_others"));
  EXPECT_FALSE(machine_from_json(to_json(machine))->cores_used_by_others);
  EXPECT_FALSE(disturbed_calibration(machine)) << "nothing is known";
  for (const double used : {0.0, 0.2, 0.21, 3.96}) {
    machine.cores_used_by_others = used;
    EXPECT_EQ(*machine_from_json(to_json(machine)), machine);
    EXPECT_EQ(disturbed_calibration(machine).has_value(), used > 0.2) << "a twentieth: " << used;
  }
  EXPECT_EQ(disturbed_calibration(machine)->text,
            "Other programs used 4.0 of 4 cores while this computer was measured: its rates may "
            "be too slow. Measure again when it is quiet.");
  Machine gpus = machine;
  gpus.cores = 0;
  EXPECT_FALSE(disturbed_calibration(gpus));
  machine.calibrated.clear();
  EXPECT_FALSE(disturbed_calibration(machine)) << "never measured";
  nlohmann::json wrong = to_json(machine);
  wrong["cores_used_by_others"] = -1;
  EXPECT_FALSE(machine_from_json(wrong).ok());
}

TEST(Machines, GpusOfThisComputerHaveAFileOfTheirOwnAndAreInNoList) {
  EXPECT_EQ(find_machine(kLocalGpus).error().id, "gpus-uncalibrated");
  Machine gpus = *find_machine("dgx-h100");
  gpus.name = kLocalGpus;
  gpus.local = true;
  gpus.calibrated = "2026-11-22 on host";
  const Link link{{5e-6, measured_here("2026-11-21")}, {2e11, measured_here("2026-11-21")}};
  gpus.pairs = {{0, 1, link}, {1, 0, link}};
  gpus.collectives = {{"all_reduce", 2, link}};
  ASSERT_TRUE(save_local_machine(gpus).ok());
  EXPECT_EQ(*find_machine(kLocalGpus), gpus);
  EXPECT_EQ(*find_machine("local"), uncalibrated_local_machine());
  const std::vector<std::string> names = machine_names();
  EXPECT_EQ(std::count(names.begin(), names.end(), kLocalGpus), 0);
}

TEST(Machines, ADamagedCalibrationIsOneSentence) {
  std::filesystem::create_directories(data_folder());
  for (const char* content : {"", "{", "[]", "{\"cores\":-1}", "{\"format\":\"x\"}"}) {
    std::ofstream(local_machine_path()) << content;
    const Result<Machine> machine = find_machine("local");
    ASSERT_FALSE(machine.ok()) << content;
    EXPECT_EQ(machine.error().id, "machine-file");
    EXPECT_NE(machine.error().text.find(local_machine_path().substr(0, 30)), std::string::npos);
  }
}

TEST(Machines, SavingWhereNothingCanBeWrittenSaysSo) {
  std::ofstream(data_folder().string()) << "a file where the folder should be";
  const Result<void> saved = save_local_machine(uncalibrated_local_machine());
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().id, "machine-save");
}

TEST(GpusTitle, CountsAllAndNamesEachKindOnce) {
  const auto title = [](const std::vector<std::string>& names) {
    Machine machine;
    set_gpus(machine, names);
    EXPECT_EQ(machine.title, title_of(machine).text);
    return machine.title;
  };
  EXPECT_EQ(title({"NVIDIA A10"}), "This computer's NVIDIA A10");
  EXPECT_EQ(title({"H100", "H100", "H100"}), "This computer's 3 GPUs (H100)");
  EXPECT_EQ(title({"H100", "A100", "H100"}), "This computer's 3 GPUs (H100, A100)");
}

// A run measures all GPUs of one kind, and of several kinds those that it was given.
TEST(CalibratedAmong, TellsWhichGpusACalibrationIsOf) {
  using Ids = std::vector<int>;
  // As calibrated where the computer had these GPUs, `ids` of them.
  const auto of = [](const std::vector<std::string>& names, const Ids& ids, bool nccl = true) {
    Machine machine;
    std::vector<std::string> theirs;
    for (const int gpu : ids) theirs.push_back(names[static_cast<std::size_t>(gpu)]);
    set_gpus(machine, theirs);
    machine.devices_per_node = static_cast<int>(ids.size());
    for (const int from : ids)
      for (const int to : ids)
        if (nccl && from < to) machine.pairs.push_back({from, to, {}});
    return machine;
  };
  const std::vector<std::string> mixed = {"A10", "A100", "A100", "T4"};
  for (const Ids& ids : {Ids{0}, {1}, {3}, {0, 1}, {0, 2}, {1, 2}, {2, 3}, {0, 1, 2, 3}})
    EXPECT_EQ(calibrated_among(of(mixed, ids), mixed), ids) << of(mixed, ids).title;
  EXPECT_EQ(calibrated_among(of(mixed, {2}), mixed), Ids{1}) << "or the other of its kind";
  for (const Ids& ids : {Ids{1, 2}, {0, 3}, {0, 1, 2, 3}})
    EXPECT_EQ(calibrated_among(of(mixed, ids, false), mixed), ids) << of(mixed, ids).title;

  const std::vector<std::string> alike = {"A100", "A100"};
  EXPECT_EQ(calibrated_among(of(alike, {0, 1}), alike), (Ids{0, 1}));
  EXPECT_EQ(calibrated_among(of(alike, {0}), alike), Ids{}) << "when there was one";
  EXPECT_EQ(calibrated_among(of(mixed, {1, 2}), alike), (Ids{0, 1})) << "from another slot";
  EXPECT_EQ(calibrated_among(of(mixed, {0, 1, 2}), alike), Ids{});
  EXPECT_EQ(calibrated_among(of(alike, {0, 1}), {"A100", "T4"}), Ids{});
  EXPECT_EQ(calibrated_among(of(alike, {0}), {"A10"}), Ids{});
  EXPECT_EQ(calibrated_among(of(alike, {0}), {}), Ids{});
}

TEST(Machines, UnknownNamesListTheKnown) {
  const Result<Machine> machine = find_machine("dgx-x");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().alternatives, machine_names());
}

}  // namespace
}  // namespace parallelarium
