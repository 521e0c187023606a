// SPDX-License-Identifier: Apache-2.0
// An address on a device with the type that the Program chose: fp32 or bf16 (fp64 in sums).
//
// A Device's launches take these instead of one overload for each storage. operator+ counts
// elements. A float* or Bf16* converts by itself.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/plan/program/program.h"
#include "kernels/base/bf16.h"

namespace parallelarium {

template <class T>
constexpr DataType data_type_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Bf16>);
  if constexpr (std::is_same_v<T, double>) return DataType::kF64;
  return std::is_same_v<T, float> ? DataType::kF32 : DataType::kBf16;
}

// `Byte`: std::byte, or const std::byte for reading alone.
template <class Byte>
class TypedAddress {
  template <class T>
  using Like = std::conditional_t<std::is_const_v<Byte>, const T, T>;

 public:
  TypedAddress(std::nullptr_t = nullptr) {}
  TypedAddress(DataType type, Byte* address) : address_(address), type_(type) {}
  TypedAddress(Like<float>* values) : TypedAddress(DataType::kF32, bytes(values)) {}
  TypedAddress(Like<double>* values) : TypedAddress(DataType::kF64, bytes(values)) {}
  TypedAddress(Like<Bf16>* values) : TypedAddress(DataType::kBf16, bytes(values)) {}
  // A writable address is readable too.
  template <class Other>
  requires(std::is_same_v<const Other, Byte>) TypedAddress(const TypedAddress<Other>& other)
      : TypedAddress(other.type(), other.address()) {}

  DataType type() const { return type_; }
  Byte* address() const { return address_; }
  explicit operator bool() const { return address_ != nullptr; }
  TypedAddress operator+(std::int64_t elements) const {
    return {type_, address_ + elements * size_of(type_)};
  }
  // The type must be T, or the address null.
  template <class T>
  Like<T>* as() const {
    assert(address_ == nullptr || type_ == data_type_of<T>());
    return reinterpret_cast<Like<T>*>(address_);
  }

 private:
  template <class T>
  static Byte* bytes(T* values) {
    return reinterpret_cast<Byte*>(values);
  }
  Byte* address_ = nullptr;
  DataType type_ = DataType::kF32;
};
using Values = TypedAddress<std::byte>;
using ConstValues = TypedAddress<const std::byte>;

// Calls launch(address) with a float* or Bf16*.
template <class Byte, class Launch>
void with_type(const TypedAddress<Byte>& values, const Launch& launch) {
  if (values.type() == DataType::kBf16)
    launch(values.template as<Bf16>());
  else
    launch(values.template as<float>());
}
// Calls launch(activations, others) likewise; the others may be fp32 beside bf16.
template <class Byte, class Launch>
void with_types(ConstValues activations, const TypedAddress<Byte>& others, const Launch& launch) {
  if (activations.type() == DataType::kF32)
    launch(activations.as<float>(), others.template as<float>());
  else if (others.type() == DataType::kF32)
    launch(activations.as<Bf16>(), others.template as<float>());
  else
    launch(activations.as<Bf16>(), others.template as<Bf16>());
}

}  // namespace parallelarium
