#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts_test.sh CASE: one property of app/prepare.sh, app/cuda.sh and kernels/cuda*.cmake. Compilers, drivers and
# apt are stand-ins in a folder of their own, first on PATH.
# shellcheck disable=SC2317,SC2034  # cases are called by name; prepare.sh reads the variables
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset CUDACXX CUDA_HOME CUDA_PATH CUDAHOSTCXX CUDAARCHS CUDAToolkit_ROOT PARALLELARIUM_DRIVER WITH_CUDA EVERY_GPU
mkdir "$tmp/bin"
PATH=$tmp/bin:$PATH
# shellcheck source=app/prepare.sh
source "$source_dir/app/prepare.sh"
BUILD=$tmp/release
CUDA_WHEELS=$tmp/cuda
mkdir "$BUILD"

fail() {
  echo "$*" >&2
  exit 1
}
same() { [ "$1" = "$2" ] || fail "Wanted: $2"$'\n'"Got:    $1"; }
contains() { [[ $1 == *"$2"* ]] || fail "Wanted a text with: $2"$'\n'"Got: $1"; }
# stand_in PATH SCRIPT: a program
stand_in() {
  mkdir -p "$(dirname "$1")"
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
nvcc_of() { stand_in "$1" "echo 'Cuda compilation tools, release ${2%.*}, V$2'"; }
gpus() { stand_in "$tmp/bin/nvidia-smi" "case \$1 in *compute_cap) printf '$1' ;; *) echo ${2:-580.65.06} ;; esac"; }

case_a_stamp_follows_compilers_and_libraries() {
  local before after
  before=$(cuda_stamp)
  same "$(cuda_stamp)" "$before"
  changed() {
    after=$(cuda_stamp)
    [ "$before" != "$after" ] || fail "The stamp is as before: $1"
    before=$after
  }
  nvcc_of "$tmp/bin/nvcc" 12.4.131
  changed "nvcc was installed"
  contains "$before" "V12.4.131"
  nvcc_of "$tmp/bin/nvcc" 12.9.86
  changed "nvcc was updated in place"
  rm "$tmp/bin/nvcc"
  changed "nvcc was removed"
  nvcc_of "$tmp/home/bin/nvcc" 13.0.88
  export CUDA_HOME=$tmp/home
  changed "CUDA_HOME names a toolkit"
  mkdir "$tmp/home/lib64"
  echo one >"$tmp/home/lib64/libnccl.so.2"
  changed "NCCL was installed"
  echo another >"$tmp/home/lib64/libnccl.so.2"
  changed "NCCL was updated"
  echo one >"$tmp/home/lib64/libcublasLt.so.13.1"
  changed "cuBLAS was installed"
  rm "$tmp/home/lib64/libcublasLt.so.13.1"
  changed "cuBLAS was removed"
  CUDAHOSTCXX=g++-11 changed "another C++ compiler was chosen"
}

case_a_build_folder_is_configured_anew_when_stamp_or_gpus_change() {
  ROOT=$tmp  # where the log goes
  gpus '9.0\n'
  touch "$BUILD/build.ninja"
  printf 'PARALLELARIUM_TESTS:BOOL=ON\nPARALLELARIUM_GPUS:STRING=9.0\n' >"$BUILD/CMakeCache.txt"
  stand_in "$tmp/bin/cmake" "echo \"\$@\" >>$tmp/calls; exit 1"
  ! is_configured || fail "A folder without a stamp is taken for configured."
  cuda_stamp >"$BUILD/cuda.stamp"
  is_configured -DPARALLELARIUM_TESTS=ON || fail "A folder whose stamp fits is not taken for configured."
  (configure -DPARALLELARIUM_TESTS=ON 2>/dev/null) || fail "It is configured without need."
  gpus '9.0\n12.0\n9.0\n'
  ! (configure 2>/dev/null) || fail "A new GPU is not seen."
  contains "$(cat "$tmp/calls")" "-DPARALLELARIUM_GPUS=9.0;12.0"
  EVERY_GPU=yes
  ! (configure 2>/dev/null) || fail "Code for these GPUs is taken for code for every GPU."
  contains "$(tail -n 1 "$tmp/calls")" "-DPARALLELARIUM_GPUS="
  ! is_configured -DPARALLELARIUM_TESTS=OFF || fail "Another option is not seen."
  nvcc_of "$tmp/bin/nvcc" 12.4.131
  ! is_configured || fail "A new nvcc is not seen."
}

# Configures kernels and engine alone; prints what CMake said of CUDA.
configure_with() {
  cmake -G Ninja -S "$source_dir" -B "$BUILD" -DPARALLELARIUM_TESTS=OFF -DPARALLELARIUM_APP=OFF \
    "-DPARALLELARIUM_CUDA_WHEELS=$CUDA_WHEELS" "$@" 2>&1
}

case_cuda_before_12_is_off_in_one_sentence() {
  local sentence="CUDA 11.8 ($tmp/bin/nvcc) is older than 12.0, the first that knows C++20, so the build is without \
GPUs; put a newer nvcc on PATH, or let app/run --with-cuda fetch one."
  local words
  nvcc_of "$tmp/bin/nvcc" 11.8.89
  words=$(configure_with) || fail "Configuring failed: $words"
  contains "$words" "-- CUDA: off. $sentence"
  cuda_is_missing || fail "The cache does not say that CUDA is missing."
  ! has_cuda || fail "The cache says that there is CUDA."
  same "$(cuda_missing_because)" "$sentence"
  ! words=$(configure_with -DPARALLELARIUM_CUDA=ON) || fail "PARALLELARIUM_CUDA=ON is content with CUDA 11.8."
  contains "$words" "$sentence"
  words=$(configure_with -DPARALLELARIUM_CUDA=OFF) || fail "Configuring failed: $words"
  ! cuda_is_missing || fail "CUDA counts as missing where it was not wanted."
}

case_a_compiler_that_does_not_work_is_off_in_one_sentence() {
  local words
  stand_in "$tmp/bin/nvcc" "[ \$1 = --version ] && echo 'release 12.4, V12.4.131' && exit
echo 'error: -- unsupported GNU version' >&2; exit 1"
  mkdir "$BUILD/bin"
  touch "$BUILD/bin/libparallelarium-cuda.so"
  words=$(configure_with) || fail "Configuring failed: $words"
  contains "$words" "(error: -- unsupported GNU version), so the build is without GPUs"
  [ ! -e "$BUILD/bin/libparallelarium-cuda.so" ] || fail "The module of an earlier build is still there."
}

case_code_is_for_the_gpus_that_are_here() {
  local all="70-real;75-real;80-real;86-real;89-real;90;100-real;120-real"
  chosen() {
    cat >"$tmp/gpus.cmake" <<END
set(PARALLELARIUM_GPUS "$1")
set(CMAKE_CUDA_ARCHITECTURES "$2")
include($source_dir/kernels/cuda_gpus.cmake)
message("\${CMAKE_CUDA_ARCHITECTURES}")
END
    cmake -P "$tmp/gpus.cmake" 2>&1
  }
  same "$(chosen "" "$all")" "$all"
  same "$(chosen 8.9 "$all")" "89-real"
  same "$(chosen "8.6;8.9;8.6" "$all")" "86-real;89-real"
  same "$(chosen 8.7 "$all")" "86-real"     # code of 8.6 runs on 8.7
  same "$(chosen 12.1 "$all")" "120-real"
  same "$(chosen 11.0 "$all")" "90"         # by PTX
  same "$(chosen 12.0 "75-real;90")" "90"   # a compiler that does not know it
  same "$(chosen "6.1;9.0" "$all")" "90"
  same "$(chosen 6.1 "$all")" "$all"
}

case_a_driver_without_compiler_is_offered_one() {
  local words
  echo "PARALLELARIUM_CUDA_MISSING:INTERNAL=There is no nvcc." >"$BUILD/CMakeCache.txt"
  rm -f "$tmp/bin/nvidia-smi"
  PARALLELARIUM_DRIVER=580.65 WITH_CUDA=yes cuda_is_wanted 2>/dev/null || fail "--with-cuda is not taken."
  ! words=$(PARALLELARIUM_DRIVER=580.65 cuda_is_wanted 2>&1 </dev/null) || fail "It fetches without being asked to."
  contains "$words" "NVIDIA's driver 580.65 is here"
  contains "$words" "There is no nvcc."
  contains "$words" "--with-cuda"
  ! words=$(PARALLELARIUM_DRIVER=470.199.02 WITH_CUDA=yes cuda_is_wanted 2>&1) || fail "Driver 470 runs CUDA 12."
  contains "$words" "older than 525"
  ! PARALLELARIUM_DRIVER=550.54 WITH_CUDA=no cuda_is_wanted 2>/dev/null || fail "--without-cuda is not taken."
  same "$(cat "$CUDA_WHEELS/declined")" 550.54
  [ ! -e /proc/driver/nvidia/version ] || return 0
  WITH_CUDA=yes cuda_is_wanted 2>/dev/null || fail "--with-cuda is not taken where there is no driver."
  ! words=$(cuda_is_wanted 2>&1) || fail "It fetches without a driver and without being asked to."
  same "$words" ""
}

case_what_is_fetched_suits_driver_and_gpus() {
  [ ! -e /proc/driver/nvidia/version ] || return 0  # the kernel's word counts there
  suits() { gpus "$1" "$2"; cuda_13_suits "$2"; }
  suits '9.0\n' 580.65.06 || fail "CUDA 13 is not taken for an H100 with driver 580."
  suits '7.5\n12.0\n' 580.65.06 || fail "CUDA 13 is not taken for a T4 and a 5090."
  ! suits '7.0\n9.0\n' 580.65.06 || fail "CUDA 13, which has no code for a V100, is taken for one."
  ! suits '9.0\n' 575.51.03 || fail "CUDA 13 is taken with driver 575."
  # Wheels as they are laid out: CUDA 13's share a folder and bring nvcc, CUDA 12's have one each and bring ptxas.
  stand_in "$tmp/bin/python3" "[ \"\$3\" = --version ] && exit
while [ \"\$1\" != --target ]; do shift; done
to=\$2; shift 2; echo \"\$@\" >>$tmp/wheels
case \"\$*\" in
  *12.9*) mkdir -p \$to/nvidia/cuda_nvcc/bin \$to/nvidia/cuda_runtime/include \$to/nvidia/cublas/lib
    echo '#define CUDA_VERSION 12090' >\$to/nvidia/cuda_runtime/include/cuda.h
    touch \$to/nvidia/cuda_nvcc/bin/ptxas \$to/nvidia/cublas/lib/libcublasLt.so.12 ;;
  *cuda-toolkit*) mkdir -p \$to/nvidia/cu13/bin \$to/nvidia/cu13/lib
    echo '#!/bin/sh' >\$to/nvidia/cu13/bin/nvcc; chmod +x \$to/nvidia/cu13/bin/nvcc
    touch \$to/nvidia/cu13/lib/libcublasLt.so.13 ;;
  *nvcc==13*) mkdir -p \$to/nvidia/cu13/bin; touch \$to/nvidia/cu13/bin/fatbinary ;;
esac"
  gpus '9.0\n' 580.65.06
  fetch_cuda 2>/dev/null
  same "$(cat "$CUDA_WHEELS/compiler")" "$CUDA_WHEELS/toolkit/bin/nvcc"
  same "$(readlink "$CUDA_WHEELS/toolkit/lib/libcublasLt.so")" libcublasLt.so.13
  same "$(cat "$tmp/wheels")" "cuda-toolkit[nvcc,cudart,cublas,cccl,nvtx]==13.0.* nvidia-nccl-cu13"
  stand_in "$tmp/bin/clang++-19" 'exit 0'
  install_missing() { :; }
  gpus '7.0\n' 580.65.06
  rm "$tmp/wheels"
  fetch_cuda 2>/dev/null
  same "$(cat "$CUDA_WHEELS/compiler")" "$tmp/bin/clang++-19"
  contains "$(cat "$CUDA_WHEELS/toolkit/bin/nvcc")" 12.9
  [ -e "$CUDA_WHEELS/toolkit/libexec/fatbinary" ] || fail "fatbinary is missing."
  contains "$(cat "$tmp/wheels")" "cuda-toolkit[nvcc,cudart,cublas,cccl,nvtx]==12.9.* nvidia-nccl-cu12"
  same "$(ls "$CUDA_WHEELS")" $'compiler\ntoolkit'
}

case_the_driver_is_found_where_nvidia_smi_knows_it() {
  [ ! -e /proc/driver/nvidia/version ] || return 0  # the kernel's word counts there
  gpus '8.9\n' 535.183.01
  same "$(driver_version)" 535.183.01
  stand_in "$tmp/bin/nvidia-smi" "echo 'NVIDIA-SMI has failed because it could not communicate with the driver.'"
  same "$(driver_version)" ""
  same "$(gpu_capabilities)" ""
}

case_fatbinary_is_called_with_the_words_of_cuda_13() {
  mkdir -p "$tmp/toolkit/bin"
  cp "$source_dir/app/cuda/fatbinary" "$tmp/toolkit/bin/"
  stand_in "$tmp/toolkit/libexec/fatbinary" 'echo "$@"'
  same "$("$tmp/toolkit/bin/fatbinary" -64 --create a.fatbin --image=profile=sm_90,file=a.o \
    --image=profile=compute_90,file=a.s)" \
    "--compress-mode=none -64 --create a.fatbin --image3=kind=elf,sm=90,file=a.o --image3=kind=ptx,sm=90,file=a.s"
}

case_apt_waits_for_another_apt() {
  local words
  # Held for three calls, by two of the three locks.
  stand_in "$tmp/bin/apt-get" "echo \"\$@\" >>$tmp/calls
[ \$(wc -l <$tmp/calls) -gt 3 ] && exit
[ \$(wc -l <$tmp/calls) = 2 ] && echo 'E: Unable to lock directory /var/lib/apt/lists/' >&2 && exit 100
echo 'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (unattended-upgr)' >&2; exit 100"
  words=$(run_apt "" update 2>&1) || fail "It did not wait: $words"
  same "$words" "Another program is installing packages; waiting until it has ended."
  same "$(wc -l <"$tmp/calls")" 4
  contains "$(tail -n 1 "$tmp/calls")" "DPkg::Lock::Timeout=60 update"
  rm "$tmp/calls"
  ! words=$(APT_PATIENCE=1 run_apt "" update 2>&1) || fail "It waits for ever."
  stand_in "$tmp/bin/apt-get" "echo again >>$tmp/others; echo 'E: Unable to locate package nonsense' >&2; exit 100"
  ! words=$(run_apt "" install nonsense 2>&1) || fail "An unknown package is no error."
  contains "$words" "Unable to locate package nonsense"
  same "$(wc -l <"$tmp/others")" 1
}

# toolkit HEADER...: a C++ compiler, and an nvcc that finds these headers alone; `said` is what check_toolkit says.
toolkit() {
  local headers=" $* "
  stand_in "$tmp/bin/c++" 'exit 0'
  stand_in "$tmp/bin/nvcc" "read -r line; case '$headers' in *\" \$(expr \"\$line\" : '.*<\\(.*\\)>') \"*) ;; *) exit 1 ;; esac"
  status=0
  said=$(check_toolkit) || status=$?
}
case_what_the_toolkit_lacks_for_a_gpu_run_is_named() {
  source "$source_dir/tests/gpu/unpack.sh"
  unset CMAKE_INCLUDE_PATH
  toolkit cuda_runtime.h cublasLt.h nvtx3/nvToolsExt.h nccl.h
  same "$status $said" "0 "
  toolkit cuda_runtime.h nvtx3/nvToolsExt.h nccl.h
  same "$status" 1
  contains "$said" "cublasLt.h is missing"
  toolkit cuda_runtime.h cublasLt.h nccl.h
  same "$status" 1
  contains "$said" "nvtx3/nvToolsExt.h is missing"
  toolkit cuda_runtime.h cublasLt.h nvtx3/nvToolsExt.h
  same "$status" 0
  contains "$said" "nccl.h was not found"
}

case_a_gpu_run_takes_its_bundle() {
  local prefix=$tmp/here/build/gpu-prefix
  source "$source_dir/tests/gpu/unpack.sh"
  mkdir -p "$tmp/here/build/gpu-bundle" "$tmp/packed/usr/lib/x/pkgconfig" "$tmp/packed/cmake/bin" "$tmp/packed/nvtx"
  touch "$tmp/packed/usr/lib/x/libhwloc.so"
  echo prefix=/usr >"$tmp/packed/usr/lib/x/pkgconfig/hwloc.pc"
  stand_in "$tmp/packed/cmake/bin/cmake" "echo 'cmake version 3.31.0'"
  tar -czf "$tmp/here/build/gpu-bundle/bundle.tar.gz" -C "$tmp/packed" .
  cd "$tmp/here"
  stand_in "$tmp/bin/nvcc" 'exit 1'
  stand_in "$tmp/bin/cmake" "echo 'cmake version 3.22.1'"
  unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH CPATH
  (
    use_bundle
    same "$CMAKE_PREFIX_PATH $PKG_CONFIG_PATH" "$prefix/usr $prefix/usr/lib/x/pkgconfig:$prefix/usr/share/pkgconfig"
    same "$LD_LIBRARY_PATH $CPATH" "$prefix/usr/lib/x $prefix/nvtx:$prefix/usr/include/x"
    same "$(cat "$prefix/usr/lib/x/pkgconfig/hwloc.pc")" "prefix=$prefix/usr"
    same "$(command -v cmake)" "$prefix/cmake/bin/cmake"
  )
  stand_in "$tmp/bin/cmake" "echo 'cmake version 3.25.1'"
  (
    use_bundle
    same "$(command -v cmake)" "$tmp/bin/cmake"
  )
  rm -r build/gpu-bundle
  (
    use_bundle
    same "${CMAKE_PREFIX_PATH:-nothing}" nothing
  )
}

"case_$1"
