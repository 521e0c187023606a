// SPDX-License-Identifier: Apache-2.0
// Norm and update go over runs of parameters: every part of them that a rank may own gives, on the
// CPU, the bits of one call for each stretch of parameters alike.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/train/parameters.h"
#include "engine/train/pieces/execute.h"
#include "kernels/optimizer/adamw.h"
#include "kernels/optimizer/sum_of_squares.h"

namespace parallelarium {
namespace {

using Floats = std::vector<float>;

constexpr std::int64_t kGap = 3;

// Parameters of 1 to 7 elements; a gap that belongs to none before the last few. More runs than one
// launch takes.
std::vector<ParameterSlice> many_parameters() {
  std::vector<ParameterSlice> slices;
  std::int64_t offset = 0;
  const int count = 2 * kMostRuns + 7;
  for (int index = 0; index < count; ++index) {
    ParameterSlice slice;
    slice.parameter = index % 2 == 0 ? Parameter::kQkvWeight : Parameter::kQkvBias;
    if (index % 50 == 49) slice.parameter = Parameter::kMlpInWeight;  // after a matrix, and before
    slice.shared_copy = index % 5 == 4;
    slice.count = 1 + index % 7;
    slice.copied = index % 3 == 2 ? slice.count / 2 : 0;
    slice.offset = offset += index == count - 4 ? kGap : 0;
    offset += slice.count;
    slices.push_back(slice);
  }
  return slices;
}

class Update : public testing::Test {
 protected:
  Update() {
    std::mt19937 bits(1);
    for (Floats* values : {&parameters_, &gradients_, &first_, &second_}) {
      values->resize(static_cast<std::size_t>(all()));
      for (float& value : *values) value = static_cast<float>(bits() % 1000 + 1) / 999.0F;
      operands_.push_back(buffer(all()));
    }
  }
  ~Update() override { device_->release(arena_); }
  std::int64_t all() const { return slices_.back().offset + slices_.back().count; }

  Operand buffer(std::int64_t count) {
    Buffer made;
    made.tensor = Tensor::kMoments;
    made.bytes = 4 * count;
    made.offset = rank_.arena_bytes;
    rank_.arena_bytes += (made.bytes + 63) / 64 * 64;
    rank_.buffers.push_back(made);
    Operand operand;
    operand.buffer = static_cast<std::int32_t>(rank_.buffers.size()) - 1;
    operand.access = Access::kAccumulate;
    operand.count = count;
    return operand;
  }
  void execute(Piece piece, std::vector<Operand> operands) {
    Op op;
    op.piece = piece;
    op.phase = Phase::kUpdate;
    op.operand_count = static_cast<std::int32_t>(operands.size());
    rank_.operands = std::move(operands);
    StepScalars scalars;
    scalars.step = 3;
    ASSERT_TRUE(execute_op(*device_, Shape{}, rank_, op, arena_, scalars).ok());
  }
  std::byte* address(const Operand& operand) const {
    return arena_ + rank_.buffers[static_cast<std::size_t>(operand.buffer)].offset;
  }
  void prepare() {
    rank_.parameters = slices_;
    arena_ = *device_->allocate(rank_.arena_bytes);
    const Floats* const from[] = {&parameters_, &gradients_, &first_, &second_};
    for (int i = 0; i < 4; ++i)
      device_->copy_to_device(address(operands_[i]), from[i]->data(), 4 * all());
  }
  Floats read(const Operand& operand) const {
    Floats values(static_cast<std::size_t>(all()));
    device_->copy_to_host(values.data(), address(operand), 4 * all());
    return values;
  }
  // The operands' part [begin, begin + count) of the parameters.
  std::vector<Operand> part(std::int64_t begin, std::int64_t count) const {
    std::vector<Operand> operands = operands_;
    for (Operand& operand : operands) {
      operand.offset = begin;
      operand.count = count;
    }
    return operands;
  }

  std::vector<ParameterSlice> slices_ = many_parameters();
  Floats parameters_, gradients_, first_, second_;
  std::vector<Operand> operands_;
  RankProgram rank_;
  std::unique_ptr<Device> device_ = make_cpu_device();
  std::byte* arena_ = nullptr;
};

TEST_F(Update, DecaysMatricesOfEveryPart) {
  prepare();
  const std::int64_t cut = all() / 3, rest = all() - cut - 5;
  std::vector<Operand> operands = part(1, cut);
  for (const Operand& operand : part(1 + cut, rest)) operands.push_back(operand);
  execute(Piece::kOptimizer, operands);
  AdamW settings;
  settings.step = 3;
  for (const ParameterSlice& slice : slices_) {
    settings.weight_decay = decays(slice.parameter) ? AdamW{}.weight_decay : 0;
    const std::int64_t begin = std::max<std::int64_t>(slice.offset, 1),
                       end = std::min(slice.offset + slice.count, 1 + cut + rest);
    if (begin < end)
      adamw_cpu(parameters_.data() + begin, gradients_.data() + begin, first_.data() + begin,
                second_.data() + begin, nullptr, 0, settings,
                static_cast<std::size_t>(end - begin));
  }
  EXPECT_EQ(read(operands_[0]), parameters_);
  EXPECT_EQ(read(operands_[2]), first_);
  EXPECT_EQ(read(operands_[3]), second_);
}

// The rank's own part stands elsewhere among its parameters than in its buffers.
TEST_F(Update, DecaysMatricesOfAShard) {
  prepare();
  const std::int64_t own = all() / 4, begin = all() / 2 + 1;
  rank_.buckets = {Bucket{0, all(), begin, own, 0}};
  std::vector<Operand> operands = part(2, own);
  for (Operand& operand : operands) operand.shard = 0;
  execute(Piece::kOptimizer, operands);
  AdamW settings;
  settings.step = 3;
  for (const ParameterSlice& slice : slices_)
    for (std::int64_t at = std::max(slice.offset, begin);
         at < std::min(slice.offset + slice.count, begin + own); ++at) {
      const std::int64_t i = at - begin + 2;
      settings.weight_decay = decays(slice.parameter) ? AdamW{}.weight_decay : 0;
      adamw_cpu(parameters_.data() + i, gradients_.data() + i, first_.data() + i,
                second_.data() + i, nullptr, 0, settings, 1);
    }
  EXPECT_EQ(read(operands_[0]), parameters_);
}

TEST_F(Update, NormCountsEveryParameterOnce) {
  Operand sum = buffer(2);
  sum.type = DataType::kF64;
  sum.access = Access::kWrite;
  sum.count = 1;
  prepare();
  execute(Piece::kGradNorm, {part(0, 100)[1], part(100, all() - 100)[1], sum});
  double expected = 0, squares = 0;
  for (const ParameterSlice& slice : slices_)
    if (!slice.shared_copy)
      sum_of_squares_cpu(&expected, gradients_.data() + slice.offset,
                         static_cast<std::size_t>(slice.count - slice.copied));
  device_->copy_to_host(&squares, address(sum), 8);
  EXPECT_NEAR(squares, expected, 1e-12 * expected);
}

}  // namespace
}  // namespace parallelarium
