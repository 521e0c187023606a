// SPDX-License-Identifier: Apache-2.0
// What is declared of NCCL against its own header, where that is found.
#include "engine/run/gpu/nccl/library/nccl_api.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <type_traits>

namespace parallelarium {
namespace {

using nccl_api::Config;
using nccl_api::Functions;
using nccl_api::UniqueId;

// Types that are passed alike are one: enumerations are int, pointers are pointers, an id is 128
// bytes.
template <class T>
auto plain() {
  if constexpr (std::is_enum_v<T>) {
    static_assert(sizeof(T) == sizeof(int));
    return int{};
  } else if constexpr (std::is_pointer_v<T>) {
    return static_cast<const void*>(nullptr);
  } else if constexpr (std::is_same_v<T, ncclUniqueId>) {
    return UniqueId{};
  } else {
    return T{};
  }
}
template <class T>
using Plain = decltype(plain<T>());
template <class Function>
struct PlainFunction;
template <class R, class... Arguments>
struct PlainFunction<R (*)(Arguments...)> {
  using type = Plain<R> (*)(Plain<Arguments>...);
};
template <class A, class B>
constexpr bool alike =
    std::is_same_v<typename PlainFunction<A>::type, typename PlainFunction<B>::type>;

static_assert(alike<decltype(&ncclGetVersion), decltype(Functions::get_version)>);
static_assert(alike<decltype(&ncclGetUniqueId), decltype(Functions::get_unique_id)>);
static_assert(alike<decltype(&ncclCommInitRankConfig), decltype(Functions::init)>);
static_assert(alike<decltype(&ncclCommSplit), decltype(Functions::split)>);
static_assert(alike<decltype(&ncclCommGetAsyncError), decltype(Functions::get_async_error)>);
static_assert(alike<decltype(&ncclCommFinalize), decltype(Functions::finalize)>);
static_assert(alike<decltype(&ncclCommDestroy), decltype(Functions::destroy)>);
static_assert(alike<decltype(&ncclCommAbort), decltype(Functions::abort)>);
static_assert(alike<decltype(&ncclGetLastError), decltype(Functions::get_last_error)>);
static_assert(alike<decltype(&ncclGroupStart), decltype(Functions::group_start)>);
static_assert(alike<decltype(&ncclGroupEnd), decltype(Functions::group_end)>);
static_assert(alike<decltype(&ncclSend), decltype(Functions::send)>);
static_assert(alike<decltype(&ncclRecv), decltype(Functions::recv)>);
static_assert(alike<decltype(&ncclAllReduce), decltype(Functions::all_reduce)>);
static_assert(alike<decltype(&ncclReduce), decltype(Functions::reduce)>);
static_assert(alike<decltype(&ncclBroadcast), decltype(Functions::broadcast)>);
static_assert(alike<decltype(&ncclAllGather), decltype(Functions::all_gather)>);
static_assert(alike<decltype(&ncclReduceScatter), decltype(Functions::reduce_scatter)>);

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(sizeof(Config) <= sizeof(ncclConfig_t));
static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(Config, least_ctas) == offsetof(ncclConfig_t, minCTAs));
static_assert(offsetof(Config, most_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(Config, network) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));

constexpr bool same(int ours, int theirs) { return ours == theirs; }
static_assert(same(nccl_api::kUint8, ncclUint8) && same(nccl_api::kInt32, ncclInt32));
static_assert(same(nccl_api::kFloat32, ncclFloat32) && same(nccl_api::kFloat64, ncclFloat64));
static_assert(same(nccl_api::kBfloat16, ncclBfloat16));
static_assert(same(nccl_api::kSum, ncclSum) && same(nccl_api::kMax, ncclMax));
static_assert(static_cast<int>(NcclStatus::kUnhandledCudaError) == ncclUnhandledCudaError);
static_assert(static_cast<int>(NcclStatus::kSystemError) == ncclSystemError);
static_assert(static_cast<int>(NcclStatus::kInternalError) == ncclInternalError);
static_assert(static_cast<int>(NcclStatus::kInvalidArgument) == ncclInvalidArgument);
static_assert(static_cast<int>(NcclStatus::kInvalidUsage) == ncclInvalidUsage);
static_assert(static_cast<int>(NcclStatus::kRemoteError) == ncclRemoteError);
static_assert(static_cast<int>(NcclStatus::kInProgress) == ncclInProgress);
static_assert(kNcclNoColor == NCCL_SPLIT_NOCOLOR);

// The numbers that the header's own initialiser has.
TEST(NcclApi, FillsTheConfigurationAsTheHeaderDoes) {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const Config ours;
  EXPECT_EQ(ours.magic, theirs.magic);
  EXPECT_LE(ours.version, theirs.version);
  EXPECT_EQ(ours.cga_cluster_size, theirs.cgaClusterSize);
  EXPECT_EQ(ours.least_ctas, theirs.minCTAs);
  EXPECT_EQ(ours.most_ctas, theirs.maxCTAs);
  EXPECT_EQ(ours.network, theirs.netName);
  EXPECT_EQ(ours.split_share, theirs.splitShare);
  EXPECT_EQ(ours.size, 48u) << "as in 2.18";
}

}  // namespace
}  // namespace parallelarium
#endif
