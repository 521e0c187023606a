# SPDX-License-Identifier: Apache-2.0
# The GPU side of the kernels: a static library where CUDA is found, nothing elsewhere.
if(PARALLELARIUM_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off")
  return()
endif()

include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(NVCC nvcc HINTS /usr/local/cuda/bin)
  if(NVCC)
    set(CMAKE_CUDA_COMPILER ${NVCC})
  endif()
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(PARALLELARIUM_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CUDA was asked for and nvcc was not found: put it on PATH, or leave "
                        "PARALLELARIUM_CUDA at AUTO.")
  endif()
  message(STATUS "CUDA: not found (no nvcc)")
  return()
endif()

# Code for Turing to Hopper, and PTX of the last for what comes after.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # CMake 3.25 does not know that nvcc speaks C++20 since 12.0.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
file(GLOB cuda_sources CONFIGURE_DEPENDS *.cu gpu_*.cpp matmul_cublaslt.cpp)
add_library(parallelarium_kernels_cuda STATIC ${cuda_sources})
# Kernels call the constexpr functions that they share with the host (bf16.h, launch.h).
target_compile_options(parallelarium_kernels_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
target_link_libraries(parallelarium_kernels_cuda PUBLIC CUDA::cudart_static CUDA::cublasLt)
message(STATUS "CUDA: ${CUDAToolkit_VERSION} (${CMAKE_CUDA_COMPILER})")

# NCCL lies beside CUDA on some machines and in system paths on others.
find_path(NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib64)
if(NCCL_INCLUDE AND NCCL_LIBRARY)
  message(STATUS "NCCL: ${NCCL_LIBRARY}")
else()
  message(STATUS "NCCL: not found")
endif()
