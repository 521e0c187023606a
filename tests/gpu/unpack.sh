# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For tests/gpu/run: takes what tests/gpu/bundle packed, where it is there, and tells what of the CUDA
# toolkit is missing. Sourced, not run; changes nothing outside of build/.

# Unpacks build/gpu-bundle into build/gpu-prefix, once for each bundle, and puts it where compilers and
# CMake look. CMake and ninja are taken where this computer has none, or a CMake that is too old.
use_bundle() {
  local bundle=$PWD/build/gpu-bundle/bundle.tar.gz prefix=$PWD/build/gpu-prefix libraries version
  [ -f "$bundle" ] || return 0
  if [ ! -f "$prefix/unpacked" ] || ! cmp -s "$prefix/unpacked" <(cksum <"$bundle"); then
    rm -rf "$prefix"
    mkdir -p "$prefix"
    if ! tar -xzf "$bundle" -C "$prefix"; then
      echo "build/gpu-bundle/bundle.tar.gz does not unpack: copy it again, or leave it away."
      exit 2
    fi
    find "$prefix/usr" -name '*.pc' -exec sed -i "s|^prefix=/usr|prefix=$prefix/usr|" {} +
    cksum <"$bundle" >"$prefix/unpacked"
  fi
  libraries=$(dirname "$(find "$prefix/usr/lib" -name 'libhwloc.so' | head -n 1)")
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  if [ -n "$version" ] && printf '3.25\n%s\n' "$version" | sort -CV; then
    PATH="$PATH:$prefix/cmake/bin:$prefix/usr/bin"
  else
    PATH="$prefix/cmake/bin:$PATH:$prefix/usr/bin"
  fi
  export CMAKE_PREFIX_PATH="$prefix/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
  export PKG_CONFIG_PATH="$libraries/pkgconfig:$prefix/usr/share/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  # Compilers know the system's own folder of this name, and not this one (hwloc/autogen).
  CPATH="$prefix/usr/include/$(basename "$libraries")${CPATH:+:$CPATH}"
  export CPATH
  nvcc_finds nvtx3/nvToolsExt.h || export CPATH="$prefix/nvtx${CPATH:+:$CPATH}"
  [ ! -f "$prefix/nccl/nccl.h" ] || nvcc_finds nccl.h ||
    export CMAKE_INCLUDE_PATH="$prefix/nccl${CMAKE_INCLUDE_PATH:+:$CMAKE_INCLUDE_PATH}"
}

nvcc_finds() { printf '#include <%s>\n' "$1" | nvcc -x cu -E - >/dev/null 2>&1; }

# One sentence for each part of the toolkit that the build needs and nvcc does not find; one for NCCL's
# header, without which a benchmark is left out. Status 1 where the build cannot be.
check_toolkit() {
  local good=0
  if ! command -v c++ >/dev/null; then
    echo "c++ is missing: install g++, 12 or newer."
    return 1
  elif ! command -v nvcc >/dev/null; then
    echo "nvcc is missing: install the CUDA toolkit, 12.0 or newer."
    return 1
  fi
  if ! nvcc_finds cuda_runtime.h; then
    echo "nvcc compiles nothing that includes cuda_runtime.h:" \
      "$(printf '#include <cuda_runtime.h>\n' | nvcc -x cu -E - 2>&1 >/dev/null | grep -m 1 -iE 'error|unsupported')"
    return 1
  fi
  if ! nvcc_finds cublasLt.h; then
    echo "cublasLt.h is missing beside nvcc: install cuBLAS of the CUDA toolkit (libcublas-dev)."
    good=1
  fi
  if ! nvcc_finds nvtx3/nvToolsExt.h; then
    echo "nvtx3/nvToolsExt.h is missing beside nvcc: install NVTX of the CUDA toolkit (cuda-nvtx), or bring" \
      "the bundle of tests/gpu/bundle."
    good=1
  fi
  if ! nvcc_finds nccl.h && [[ ${CMAKE_INCLUDE_PATH:-} != */nccl* ]]; then
    echo "nccl.h was not found: collectives are not compared with NCCL's own (libnccl-dev has it)."
  fi
  return $good
}
