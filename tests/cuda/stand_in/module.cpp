// SPDX-License-Identifier: Apache-2.0
// A CUDA module of another version, which needs a library that only a wheel has.
int of_the_wheel();

extern "C" void* parallelarium_cuda_module(int version) {
  return version == of_the_wheel() ? reinterpret_cast<void*>(&of_the_wheel) : nullptr;
}
