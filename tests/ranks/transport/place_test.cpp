// SPDX-License-Identifier: Apache-2.0
// What launchers say in the environment of the processes that they start.
#include "engine/run/net/place.h"

#include <gtest/gtest.h>

#include <map>

namespace parallelarium {
namespace {

Environment having(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Place, IsReadFromTorchrun) {
  std::map<std::string, std::string> all = {{"RANK", "5"},           {"WORLD_SIZE", "8"},
                                            {"LOCAL_RANK", "1"},     {"LOCAL_WORLD_SIZE", "4"},
                                            {"MASTER_ADDR", "gpu1"}, {"MASTER_PORT", "4321"}};
  const auto place = find_place(having(all));
  ASSERT_TRUE(place.ok() && place->has_value());
  EXPECT_EQ((*place)->launcher, "torchrun");
  EXPECT_EQ((*place)->rank, 5);
  EXPECT_EQ((*place)->size, 8);
  EXPECT_EQ((*place)->local_rank, 1);
  EXPECT_EQ((*place)->local_size, 4);
  EXPECT_EQ((*place)->address, "gpu1");
  EXPECT_EQ((*place)->port, 4321);
  all["TORCHELASTIC_USE_AGENT_STORE"] = "True";  // the agent listens on that port itself
  EXPECT_EQ((*find_place(having(all)))->port, 4322);
  all.erase("MASTER_PORT");
  const auto unclear = find_place(having(all));
  ASSERT_FALSE(unclear.ok());
  EXPECT_NE(unclear.error().text.find("MASTER_PORT"), std::string::npos) << unclear.error().text;
  // A platform that numbers nodes with RANK has not started ranks.
  EXPECT_FALSE(find_place(having({{"RANK", "0"}, {"WORLD_SIZE", "2"}}))->has_value());
  EXPECT_FALSE(find_place(having({}))->has_value());
}

TEST(Place, IsReadFromOpenMpi) {
  std::map<std::string, std::string> all = {{"OMPI_COMM_WORLD_RANK", "2"},
                                            {"OMPI_COMM_WORLD_SIZE", "4"},
                                            {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  const auto place = find_place(having(all));
  ASSERT_TRUE(place.ok() && place->has_value());
  EXPECT_EQ((*place)->address, "127.0.0.1");
  EXPECT_EQ((*place)->port, kDefaultPort);
  all["OMPI_COMM_WORLD_LOCAL_RANK"] = "0";
  all["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";  // on several hosts
  EXPECT_FALSE(find_place(having(all)).ok());
  all["MASTER_ADDR"] = "node3";
  EXPECT_EQ((*find_place(having(all)))->address, "node3");
  all["OMPI_COMM_WORLD_SIZE"] = "x";
  EXPECT_FALSE(find_place(having(all)).ok());
}

TEST(Place, IsReadFromSlurm) {
  std::map<std::string, std::string> all = {{"SLURM_PROCID", "3"},
                                            {"SLURM_STEP_NUM_TASKS", "5"},
                                            {"SLURM_LOCALID", "0"},
                                            {"SLURM_NODEID", "1"},
                                            {"SLURM_STEP_TASKS_PER_NODE", "3,2"},
                                            {"SLURM_STEP_NODELIST", "gpu[07,09]"}};
  const auto place = find_place(having(all));
  ASSERT_TRUE(place.ok() && place->has_value());
  EXPECT_EQ((*place)->address, "gpu07");
  EXPECT_EQ((*place)->local_size, 2);
  all.erase("SLURM_STEP_NUM_TASKS");  // the script of sbatch: no srun has started it
  EXPECT_FALSE(find_place(having(all))->has_value());
  EXPECT_EQ(first_host("gpu[03-05,09],big1"), "gpu03");
  EXPECT_EQ(first_host("n1"), "n1");
  EXPECT_EQ(first_host("n1,n2"), "n1");
  EXPECT_EQ(first_host("n[1-2]-ib,m1"), "n1-ib");
  EXPECT_EQ(tasks_of_node("2(x3),1", 2), 2);
  EXPECT_EQ(tasks_of_node("2(x3),1", 3), 1);
  EXPECT_EQ(tasks_of_node("2(x3),1", 4), 0);
}

}  // namespace
}  // namespace parallelarium
