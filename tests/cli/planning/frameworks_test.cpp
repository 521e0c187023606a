// SPDX-License-Identifier: Apache-2.0
// `export --as`, `import --as`, `roofline` and `calibrate --memory` on the command line.
#include <gmock/gmock.h>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::string> kWords = {
    "export", "--as", "megatron", "--model", "llama3-8b", "--machine", "dgx-h100",
    "--tp",   "4",    "--dp",     "2",       "--zero",    "1"};

TEST(Frameworks, AreWrittenAndReadBack) {
  const Folder folder;
  const Reply text = command(kWords);
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("# Megatron-LM, commit "));
  EXPECT_THAT(text.out, HasSubstr("torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py \\\n"));
  EXPECT_THAT(text.out, HasSubstr("--tensor-model-parallel-size 4 \\\n"));
  const std::string line = folder.file("line.sh", text.out);
  const Reply read = command({"import", "--as", "megatron", line, "--machine", "dgx-h100"});
  ASSERT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(read.err, "");
  const std::string setup = folder.file("setup.json", read.out);
  const Reply again = command({"export", "--as", "megatron", "--setup", setup});
  EXPECT_EQ(again.out, text.out);
}

TEST(Frameworks, ATextTellsWhoseItIs) {
  const Folder folder;
  const std::string line = folder.file("line.sh", command(kWords).out);
  const Reply read = command({"import", line, "--json"});
  ASSERT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(read.json().at("framework"), "megatron");
  EXPECT_EQ(read.json().at("setup"),
            command({"import", "--as", "megatron", line, "--json"}).json().at("setup"));
  const Reply letter = command({"import", folder.file("letter.txt", "Dear reader,\n")});
  EXPECT_EQ(letter.status, 2);
  EXPECT_THAT(letter.err, HasSubstr("names no setting of megatron"));
}

TEST(Frameworks, AnswerInJsonWithWhatIsMissing) {
  const Folder folder;
  std::vector<std::string> words = kWords;
  words.insert(words.end(), {"--pp", "2", "--schedule", "zb-h1", "--json"});
  const json written = command(words).json();
  EXPECT_EQ(written.at("setup").at("schedule"), "zb-h1");
  EXPECT_FALSE(written.at("resolved").at("precision") == "auto");
  std::vector<std::string> fields;
  for (const json& sentence : written.at("not_expressible")) fields.push_back(sentence.at("field"));
  EXPECT_THAT(fields, testing::UnorderedElementsAre("machine", "schedule", "overlap_pipeline"));
  const std::string line =
      folder.file("line.sh", written.at("text").get<std::string>() + " --rampup-batch-size 8 8 64");
  const json read = command({"import", "--as", "megatron", line, "--json"}).json();
  EXPECT_EQ(read.at("setup").at("mesh").at("pp"), 2);
  EXPECT_EQ(read.at("not_expressible").size(), 1u);
}

TEST(Frameworks, WriteToAFile) {
  const Folder folder;
  std::vector<std::string> words = kWords;
  words.insert(words.begin() + 1, folder.path("line.sh"));
  const Reply written = command(words);
  EXPECT_EQ(written.status, 0);
  EXPECT_EQ(written.out, "");
  std::ifstream file(folder.path("line.sh"));
  std::string first;
  std::getline(file, first);
  EXPECT_THAT(first, HasSubstr("Megatron-LM"));
}

TEST(Frameworks, WhatTheFileCannotSayComesFromOptions) {
  const Folder folder;
  const std::string file = folder.file("config.yaml",
                                       "distributed_type: FSDP\nnum_processes: 8\n"
                                       "mixed_precision: bf16\nfsdp_config:\n  fsdp_version: 2\n");
  const Reply read = command({"import", "--as", "accelerate", file, "--model", "llama3-8b",
                              "--machine", "dgx-h100", "--micro-batch", "2"});
  ASSERT_EQ(read.status, 0) << read.err;
  const json setup = read.json();
  EXPECT_EQ(setup.at("model"), "llama3-8b");
  EXPECT_EQ(setup.at("micro_batch"), 2);
  EXPECT_EQ(setup.at("zero"), 3);
  EXPECT_EQ(setup.at("mesh").at("dp"), 8);
}

// What neither the text nor an option says, and only that.
TEST(Frameworks, WhatIsAssumedIsSaid) {
  const Folder folder;
  const std::string batch =
      folder.file("ds.json", R"({"train_batch_size": 64, "gradient_accumulation_steps": 4,
                     "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}})");
  const json read = command({"import", "--as", "deepspeed", batch, "--json"}).json();
  EXPECT_EQ(read.at("setup").at("mesh").at("dp"), 8);
  const json& assumed = read.at("assumed");
  EXPECT_EQ(assumed.at("model"), read.at("setup").at("model"));
  EXPECT_EQ(assumed.at("machine"), "local");
  for (const char* said : {"mesh.dp", "microbatches", "micro_batch"})
    EXPECT_FALSE(assumed.contains(said)) << said;
  const Reply text = command({"import", "--as", "deepspeed", batch});
  EXPECT_THAT(text.err,
              HasSubstr("Assumed, since neither the text nor an option says otherwise: "));
  EXPECT_THAT(text.err, HasSubstr("--machine local"));
  EXPECT_TRUE(json::accept(text.out));
  const json chosen = command({"import", "--as", "deepspeed", batch, "--model", "llama3-8b",
                               "--machine", "dgx-h100", "--json"})
                          .json()
                          .at("assumed");
  EXPECT_FALSE(chosen.contains("model"));
  EXPECT_FALSE(chosen.contains("machine"));
}

TEST(Frameworks, WhatCannotBePredictedIsSaid) {
  const Folder folder;
  const std::string line =
      folder.file("line.sh",
                  "torchrun --nproc-per-node 3 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
                  "--num-attention-heads 4 --seq-length 128 --vocab-size 256 "
                  "--tensor-model-parallel-size 3");
  const Reply read = command({"import", "--as", "megatron", line});
  EXPECT_EQ(read.status, 0);
  EXPECT_THAT(read.err, HasSubstr("This cannot be predicted yet: TP 3 does not divide 4 heads"));
  const json answer = command({"import", "--as", "megatron", line, "--json"}).json();
  EXPECT_EQ(answer.at("invalid").at(0).at("field"), "mesh.tp");
}

TEST(RooflineCommand, ShowsCeilingsAndPoints) {
  const Folder folder;
  const json roofline =
      command({"roofline", "--model", "llama3-8b", "--machine", "dgx-h100", "--json"}).json();
  EXPECT_EQ(roofline.at("ceilings").at(0).at("flops_per_second"), 989e12);
  EXPECT_EQ(roofline.at("ceilings").at(2).at("flops_per_second"), 1979e12) << "FP8";
  for (const json& point : roofline.at("points"))
    for (const char* key : {"piece", "phase", "flops", "bytes", "intensity", "seconds", "bound"})
      EXPECT_TRUE(point.contains(key)) << key;
  EXPECT_THAT(command({"roofline", "--model", "llama3-8b", "--machine", "dgx-h100"}).out,
              testing::AllOf(HasSubstr("memory of a device"), HasSubstr("network between nodes")));
  EXPECT_THAT(command({"roofline", "--model", "llama3-8b", "--machine", "dgx-h100"}).out,
              testing::AllOf(HasSubstr("registers"), HasSubstr("L2 cache"), HasSubstr("2.08 ns"),
                             HasSubstr("link in a node, NVLink")));
  EXPECT_THAT(command({"roofline"}).out, testing::Not(HasSubstr("network"))) << "the only node";
}

}  // namespace
}  // namespace parallelarium
