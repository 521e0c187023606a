// SPDX-License-Identifier: Apache-2.0
// Copies and shards of parameters, gradients and optimizer state. Ranks of data parallelism train
// with what they were given, whatever it is: what a rank needs whole and has a shard of is gathered
// for as long as it is used, and what it has whole and updates a shard of is handed round. What a
// rank holds is counted, and what it sends while it trains.
#include <algorithm>
#include <cmath>

#include "engine/lesson/assign/assignment.h"
#include "engine/lesson/assign/rank_team.h"
#include "engine/plan/model/model.h"
#include "engine/plan/text/units.h"

namespace parallelarium {

namespace {

// Of the model that is trained here, whose loss is that of one product with all its parameters, so
// that every gradient depends on every parameter. Each has the bytes of the Setup's parameters, and
// stands for as many as make up the Setup's model.
constexpr std::int64_t kParametersOfRank = 4;
constexpr int kSteps = 2;  // the second begins with what the first has left everywhere
constexpr double kRate = 0.1, kMomentum = 0.9, kSecondMomentum = 0.999, kEpsilon = 1e-8;

struct Sharded {
  bool parameters = false, gradients = false, optimizer = false;
  // A rank updates what it has of every state.
  bool update() const { return parameters || gradients || optimizer; }
};

// One rank holds these parts of the states: each row of a matrix is a number.
struct HeldStates {
  RankMatrix parameters, gradients, first_moment, second_moment;
};

struct Trained {
  std::vector<HeldStates> ranks;
  double parameters_sent = 0, gradients_sent = 0;  // numbers that each rank sent in a step
};

RankMatrix zeros(std::int64_t rows) {
  return {rows, 1, std::vector<double>(static_cast<std::size_t>(rows))};
}

// Adds to `sum` the gradient of half the squared error of one example, over `examples`.
void add_gradient(const RankMatrix& parameters, int example, int examples, RankMatrix& sum) {
  const RankMatrix input = test_matrix(parameters.rows, 1, 100 + example);
  const double error = product(transposed(input), parameters).at(0, 0) - 1;
  for (std::int64_t row = 0; row < sum.rows; ++row)
    sum.at(row, 0) += error * input.at(row, 0) / examples;
}

// Adam on as many rows as `gradient` has, which begin at these of the rank's.
void update(const RankMatrix& gradient, int step, HeldStates& held, std::int64_t parameter,
            std::int64_t moment) {
  for (std::int64_t row = 0; row < gradient.rows; ++row, ++parameter, ++moment) {
    const double slope = gradient.at(row, 0);
    double& first = held.first_moment.at(moment, 0);
    double& second = held.second_moment.at(moment, 0);
    first = kMomentum * first + (1 - kMomentum) * slope;
    second = kSecondMomentum * second + (1 - kSecondMomentum) * slope * slope;
    const double mean = first / (1 - std::pow(kMomentum, step));
    const double square = second / (1 - std::pow(kSecondMomentum, step));
    held.parameters.at(parameter, 0) -= kRate * mean / (std::sqrt(square) + kEpsilon);
  }
}

// `all` parameters, so many for each rank. Each has examples of its own in every step, one in a
// micro-batch; together they are the same however many ranks share them.
Trained train(std::int64_t all, int ranks, int microbatches, const Sharded& sharded) {
  const std::int64_t each = all / ranks;
  const RankMatrix initial = test_matrix(all, 1, 1);
  const auto rows = [&](bool shard) { return shard ? each : all; };
  const auto begin = [&](int rank, bool shard) { return shard ? 0 : rank * each; };
  // Two teams of the same ranks, so that each counts one kind of numbers.
  RankTeam parameters(ranks), gradients(ranks);
  Trained made;
  made.ranks.resize(static_cast<std::size_t>(ranks));
  parameters.run([&](int rank) {
    HeldStates& held = made.ranks[static_cast<std::size_t>(rank)];
    held.parameters = sharded.parameters ? rows_of(initial, rank, ranks) : initial;
    held.first_moment = held.second_moment = zeros(rows(sharded.optimizer));
    for (int step = 1; step <= kSteps; ++step) {
      held.gradients = zeros(rows(sharded.gradients));
      for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
        RankMatrix whole = held.parameters;
        if (sharded.parameters) {
          parameters.all_gather_rows(rank, whole);  // for the forward, and freed
          whole = held.parameters;
          parameters.all_gather_rows(rank, whole);  // for the backward
        }
        RankMatrix own = zeros(all);
        const int examples = ranks * microbatches;
        add_gradient(whole, (step * microbatches + microbatch) * ranks + rank, examples, own);
        if (sharded.gradients) gradients.reduce_scatter_rows(rank, own);
        for (std::int64_t row = 0; row < own.rows; ++row)
          held.gradients.at(row, 0) += own.at(row, 0);
      }
      RankMatrix sum = held.gradients;
      if (!sharded.gradients) gradients.reduce_scatter_rows(rank, sum);
      if (!sharded.update()) {
        gradients.all_gather_rows(rank, sum);
        update(sum, step, held, 0, 0);
        continue;
      }
      update(sum, step, held, begin(rank, sharded.parameters), begin(rank, sharded.optimizer));
      if (sharded.parameters) continue;
      held.parameters = rows_of(held.parameters, rank, ranks);
      parameters.all_gather_rows(rank, held.parameters);
    }
  });
  const auto numbers = [&](const RankTeam& team) {
    return static_cast<double>(team.sent_bytes()) / sizeof(double) / ranks / kSteps;
  };
  made.parameters_sent = numbers(parameters);
  made.gradients_sent = numbers(gradients);
  return made;
}

// Whether every rank has of the parameters what one rank alone gets with all examples.
bool as_one_rank(const Trained& made, std::int64_t all, int microbatches, bool sharded) {
  const auto ranks = static_cast<int>(made.ranks.size());
  const RankMatrix alone = train(all, 1, ranks * microbatches, {}).ranks.front().parameters;
  for (int rank = 0; rank < ranks; ++rank)
    if (!agree(made.ranks[static_cast<std::size_t>(rank)].parameters,
               sharded ? rows_of(alone, rank, ranks) : alone))
      return false;
  return true;
}

// A gradient here is never 0, so what an update wrote of the second moment is not.
double unused_share(const RankMatrix& second_moment) {
  const auto unused = std::count(second_moment.cells.begin(), second_moment.cells.end(), 0.0);
  return static_cast<double>(unused) / static_cast<double>(second_moment.rows);
}

Message amount(std::int64_t bytes) { return figure(bytes_text(static_cast<double>(bytes))); }

}  // namespace

AssignmentFacts state_facts(const Setup& setup, const Assignment& assignment) {
  const auto shard = [&](const char* slot) { return assignment.at(slot) == "shard"; };
  const Sharded sharded{shard("parameters"), shard("gradients"), shard("optimizer")};
  const int ranks = setup.mesh.dp;
  const std::int64_t all = ranks * kParametersOfRank;
  const Trained made = train(all, ranks, setup.microbatches, sharded);

  const HeldStates& held = made.ranks.front();
  const auto model = static_cast<double>(count_parameters(setup.model).total);
  const auto in_bytes = [&](double numbers, int of_each) {
    return std::llround(numbers / static_cast<double>(all) * model * of_each);
  };
  const Precision& each = setup.precision;
  const int moment_bytes = each.master_bytes + each.moments_bytes;
  const std::int64_t parameters = in_bytes(double(held.parameters.rows), each.parameter_bytes),
                     gradients = in_bytes(double(held.gradients.rows), each.gradient_bytes),
                     optimizer = in_bytes(double(held.second_moment.rows), moment_bytes),
                     unused = std::llround(unused_share(held.second_moment) * double(optimizer)),
                     sent = in_bytes(made.parameters_sent, each.parameter_bytes) +
                            in_bytes(made.gradients_sent, each.gradient_bytes);
  AssignmentFacts out;
  out.facts = {
      {"states_bytes", parameters + gradients + optimizer},
      {"unused_bytes", unused},
      {"sent_bytes", sent},
      {"as_one_rank", as_one_rank(made, all, setup.microbatches, sharded.parameters) ? 1 : 0}};
  out.reasons.push_back(message("assign-states.held",
                                "So a rank holds {} of states: {} parameters, {} gradients, {} "
                                "optimizer state.",
                                amount(parameters + gradients + optimizer), amount(parameters),
                                amount(gradients), amount(optimizer)));
  if (unused > 0)
    out.reasons.push_back(message("assign-states.unused",
                                  "It never used {} of the optimizer state: a rank updates what it "
                                  "has of all three states, and of parameters or gradients it has "
                                  "a shard.",
                                  amount(unused)));
  out.reasons.push_back(
      sharded.parameters ? message("assign-states.gathered",
                                   "It sends {} in a step: shards of parameters are gathered "
                                   "before each use, in the forward and again in the backward.",
                                   amount(sent))
                         : message("assign-states.sent", "It sends {} in a step.", amount(sent)));
  return out;
}

}  // namespace parallelarium
