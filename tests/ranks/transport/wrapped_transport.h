// SPDX-License-Identifier: Apache-2.0
// A Transport that calls a test's function before every transfer, to fail or hang there.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "engine/run/transport.h"

namespace parallelarium {

class WrappedTransport final : public Transport {
 public:
  // `before_transfer` is given the count of calls so far, from 1.
  WrappedTransport(std::unique_ptr<Transport> inner, std::function<void(int)> before_transfer)
      : inner_(std::move(inner)), before_transfer_(std::move(before_transfer)) {}
  int rank() const override { return inner_->rank(); }
  Result<void> connect() override { return inner_->connect(); }
  Result<void> close() override { return inner_->close(); }
  void report_to(RankProgress& progress) override { inner_->report_to(progress); }
  Result<void> look(const std::function<std::string()>& doing) override {
    return inner_->look(doing);
  }
  void abort() override { inner_->abort(); }
  bool does_steps() const override { return inner_->does_steps(); }
  Result<void> transfer(std::span<TransferPart> parts) override {
    before_transfer_(++calls_);
    return inner_->transfer(parts);
  }
  Result<void> collective(CollectiveCall& call) override { return inner_->collective(call); }
  Result<TimePoint> barrier() override { return inner_->barrier(); }

 private:
  const std::unique_ptr<Transport> inner_;
  const std::function<void(int)> before_transfer_;
  std::atomic<int> calls_{0};  // of all lanes
};

}  // namespace parallelarium
