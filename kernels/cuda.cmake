# SPDX-License-Identifier: Apache-2.0
# The GPU side of the kernels: a static library where CUDA is found, nothing elsewhere.
set(PARALLELARIUM_GPUS "" CACHE STRING
    "Compute capabilities to build for, such as 8.6;8.9; empty: all that the compiler knows")
set(PARALLELARIUM_CUDA_MISSING "" CACHE INTERNAL "Why there is no CUDA, in one sentence")

# Without CUDA; a module of an earlier build would be loaded still.
macro(without_cuda why)
  set(PARALLELARIUM_CUDA_MISSING "${why}" CACHE INTERNAL "Why there is no CUDA, in one sentence")
  file(REMOVE ${CMAKE_BINARY_DIR}/bin/libparallelarium-cuda.so)
  if(PARALLELARIUM_CUDA STREQUAL "ON")
    message(FATAL_ERROR " ${why}")  # a line that begins with a space is not broken
  endif()
  message(STATUS "CUDA: off. ${why}")
  return()
endmacro()

if(PARALLELARIUM_CUDA STREQUAL "OFF")
  without_cuda("It was not wanted (PARALLELARIUM_CUDA is OFF).")
endif()
include(cuda_compiler.cmake)
if(cuda_missing)
  without_cuda("${cuda_missing}")
endif()

# Machine code for Volta (which CUDA 13 gave up) to Blackwell, and PTX of Hopper for what comes after. Ada (8.9) runs
# that of 8.6, of which it has the shared memory and registers.
if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 90)
  if(cuda_version AND cuda_version VERSION_LESS 13.0)
    list(PREPEND CMAKE_CUDA_ARCHITECTURES 70-real)
  endif()
  if(cuda_version VERSION_GREATER_EQUAL 12.8 AND NOT CMAKE_CUDA_COMPILER MATCHES "clang")
    list(APPEND CMAKE_CUDA_ARCHITECTURES 100-real 120-real)
  endif()
  include(cuda_gpus.cmake)
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # CMake 3.25 does not know that nvcc speaks C++20 since 12.0.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
if(NOT TARGET CUDA::cublasLt OR NOT TARGET CUDA::cudart_static)
  without_cuda("CUDA ${CUDAToolkit_VERSION} (${CMAKE_CUDA_COMPILER}) has no cuBLAS or no static runtime \
beside it, so the build is without GPUs; install them too (libcublas-dev, cuda-cudart-dev).")
endif()

# The least compute capability that the code is for, such as 75.
set(architectures ${CMAKE_CUDA_ARCHITECTURES})
if(architectures STREQUAL "native")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
elseif(architectures MATCHES "^all")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES_ALL})
endif()
if(NOT architectures)
  without_cuda("CMAKE_CUDA_ARCHITECTURES is native and no GPU answers; name the compute capabilities instead, \
such as 86.")
endif()
list(TRANSFORM architectures REPLACE "[^0-9].*" "")
list(SORT architectures COMPARE NATURAL)
list(GET architectures 0 least_capability)

# The files of a folder are compiled together, but for those for tensor cores (*_tiles*), which have other numbers of
# threads: to read CUDA's headers once for every GPU takes some ten seconds.
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS gpu_*.cpp matmul_cublaslt.cpp)
file(GLOB_RECURSE kernels RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cu)
set(parts "")
foreach(kernel ${kernels})
  string(REGEX REPLACE "/.*" "" part ${kernel})
  if(kernel MATCHES "_tiles")
    string(APPEND part "_tiles")
  endif()
  list(APPEND parts ${part})
  string(APPEND text_of_${part} "#include \"kernels/${kernel}\"\n")
endforeach()
list(REMOVE_DUPLICATES parts)
set(simple_sources "")
foreach(part ${parts})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${part}.cu)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text_of_${part}}" @ONLY)
  if(part MATCHES "_tiles$")
    list(APPEND cuda_sources ${file})
  else()
    list(APPEND simple_sources ${file})
  endif()
endforeach()
add_library(parallelarium_kernels_simple OBJECT ${simple_sources})
add_library(parallelarium_kernels_cuda STATIC ${cuda_sources} $<TARGET_OBJECTS:parallelarium_kernels_simple>)
# Kernels for tensor cores have sizes of their own for each GPU. The others are made of the PTX of 8.0 for 8.6 and of that
# of 10.0 for 12.0, which takes a fifth less time. Where PARALLELARIUM_GPUS names GPUs, CMake's own flags stay.
set(plain ${CMAKE_CUDA_ARCHITECTURES})
list(FILTER plain INCLUDE REGEX "^[0-9]+(-real)?$")
if(plain STREQUAL "${CMAKE_CUDA_ARCHITECTURES}" AND NOT PARALLELARIUM_GPUS AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
  set_target_properties(parallelarium_kernels_simple PROPERTIES CUDA_ARCHITECTURES OFF)
  set(bases "")
  foreach(architecture ${CMAKE_CUDA_ARCHITECTURES})
    string(REGEX MATCH "^[0-9]+" number "${architecture}")
    set(base ${number})
    foreach(each 70 75 80 89 90 100)
      if(NOT each GREATER number)
        set(base ${each})
      endif()
    endforeach()
    list(APPEND bases ${base})
    list(APPEND codes_of_${base} sm_${number})
    if(NOT architecture MATCHES "-real$")
      list(APPEND codes_of_${base} compute_${base})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES bases)
  foreach(base ${bases})
    list(JOIN codes_of_${base} "," codes)
    target_compile_options(parallelarium_kernels_simple PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:--generate-code=arch=compute_${base},code=[${codes}]>")
  endforeach()
endif()
# Kernels call the constexpr functions that they share with the host (bf16.h, launch.h). clang++ takes newer headers
# than it knows, and before 20 without __grid_constant__, which only saves a copy.
foreach(target parallelarium_kernels_simple parallelarium_kernels_cuda)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--expt-relaxed-constexpr -Wno-deprecated-gpu-targets>
    $<$<COMPILE_LANG_AND_ID:CUDA,Clang>:-Wno-unknown-cuda-version -Wno-unknown-attributes>)
endforeach()
target_compile_definitions(parallelarium_kernels_cuda INTERFACE
  PARALLELARIUM_LEAST_COMPUTE_CAPABILITY=${least_capability})
target_link_libraries(parallelarium_kernels_simple PRIVATE CUDA::cudart_static)
target_link_libraries(parallelarium_kernels_cuda PUBLIC CUDA::cudart_static CUDA::cublasLt)
set_target_properties(parallelarium_kernels_cuda PROPERTIES PARALLELARIUM_CUDA_VERSION ${CUDAToolkit_VERSION})
message(STATUS "CUDA: ${CUDAToolkit_VERSION} (${CMAKE_CUDA_COMPILER}) for ${CMAKE_CUDA_ARCHITECTURES}")

# A benchmark compares with NCCL's own collectives; the engine loads NCCL when it needs it.
find_path(NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib64)
