# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What this computer has of CUDA, and how app/run fetches what is missing. Sourced by prepare.sh.
# Reads ROOT and BUILD. CUDA_WHEELS is the folder of what was fetched: `toolkit`, laid out like /usr/local/cuda,
# `compiler`, one line with its path, and `declined`, the driver for which nothing is to be fetched.

CUDA_WHEELS=$ROOT/build/cuda

# The version of NVIDIA's driver, such as 580.65.06; nothing where there is none. PARALLELARIUM_DRIVER pretends one.
driver_version() {
  if [ -n "${PARALLELARIUM_DRIVER:-}" ]; then
    echo "$PARALLELARIUM_DRIVER"
  elif [ -r /proc/driver/nvidia/version ]; then
    grep -m 1 -oE '[0-9]{3,}\.[0-9]+(\.[0-9]+)?' /proc/driver/nvidia/version
  else
    ask_gpus driver_version | head -n 1
  fi
}

# ask_gpus FIELD: what nvidia-smi says, one line for each GPU. Under WSL2 it is not on PATH.
ask_gpus() {
  local smi
  smi=$(PATH=$PATH:/usr/lib/wsl/lib command -v nvidia-smi) || return 0
  timeout 20 "$smi" --query-gpu="$1" --format=csv,noheader 2>/dev/null | grep -E '^[0-9.]+$' || true
}

# The compute capabilities of this computer's GPUs, such as "8.6;8.9".
gpu_capabilities() {
  ask_gpus compute_cap | sort -Vu | paste -sd ';'
}

# Everything that a configuration found of CUDA, or would find now: compilers, their versions, cuBLAS, NCCL.
# A build folder keeps it; where it changed, the folder is configured anew.
cuda_stamp() {
  local nvcc library folders=()
  echo "c++ $(c++ --version 2>/dev/null | head -n 1)"
  echo "names ${CUDACXX:-} ${CUDAHOSTCXX:-} ${CUDAARCHS:-} ${CUDAToolkit_ROOT:-}"
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc)" "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc "$CUDA_WHEELS/toolkit/bin/nvcc"; do
    [ -x "$nvcc" ] || continue
    nvcc=$(realpath "$nvcc")
    echo "compiler $nvcc $("$nvcc" --version 2>/dev/null | grep -o 'V[0-9.]*$')"
    folders+=("$(dirname "$nvcc")/../lib64" "$(dirname "$nvcc")/../lib")
  done
  [ ! -f "$CUDA_WHEELS/compiler" ] || echo "fetched $(cat "$CUDA_WHEELS/compiler")"
  {
    for library in libcublasLt.so libnccl.so; do
      find -L /usr/local/lib "${folders[@]}" -maxdepth 1 -name "$library*" 2>/dev/null || true
      PATH=$PATH:/sbin ldconfig -p 2>/dev/null | sed -n "s|.* => \(.*/$library.*\)|\1|p"
    done
  } | { xargs -r -d '\n' realpath -q || true; } | sort -u | xargs -r -d '\n' stat -c 'library %n %s'
}

# Whether CUDA is missing from the configuration though it was not turned off.
cuda_is_missing() {
  grep -q '^PARALLELARIUM_CUDA_MISSING:INTERNAL=.' "$BUILD/CMakeCache.txt" &&
    ! grep -q '^PARALLELARIUM_CUDA:[A-Z]*=OFF$' "$BUILD/CMakeCache.txt"
}

# Whether the configuration has CUDA.
has_cuda() { grep -q '^PARALLELARIUM_CUDA_MISSING:INTERNAL=$' "$BUILD/CMakeCache.txt"; }

cuda_missing_because() { sed -n 's/^PARALLELARIUM_CUDA_MISSING:INTERNAL=//p' "$BUILD/CMakeCache.txt"; }

# Where there is a driver and no compiler, tells so and asks whether to fetch one. Status 0: it is to be fetched.
# WITH_CUDA (yes or no) is the answer that a person gave by an option.
cuda_is_wanted() {
  local driver answer
  driver=$(driver_version)
  if [ -z "$driver" ]; then
    [ "${WITH_CUDA:-}" = yes ] || return 1
    say "There is no NVIDIA driver here; the CUDA that is fetched is for driver 580 or newer."
    return 0
  fi
  if [ "${driver%%.*}" -lt 525 ]; then
    say "NVIDIA's driver $driver is older than 525, which CUDA 12 needs: GPUs are not used until it is updated."
    return 1
  fi
  [[ ${WITH_CUDA:-} == @(yes|no) ]] || [ "$(cat "$CUDA_WHEELS/declined" 2>/dev/null)" != "$driver" ] || return 1
  say "NVIDIA's driver $driver is here, but no CUDA compiler that can be used: $(cuda_missing_because)"
  case ${WITH_CUDA:-} in
    yes) return 0 ;;
    no)
      mkdir -p "$CUDA_WHEELS"
      echo "$driver" >"$CUDA_WHEELS/declined"
      return 1
      ;;
  esac
  if [ ! -t 0 ] || [ ! -t 2 ]; then
    say "With --with-cuda it is fetched from pypi.org into build/cuda (about 1 GB); until then GPUs are not used."
    return 1
  fi
  read -r -p "Fetch it with its libraries from pypi.org into build/cuda (about 1 GB)? [Y/n] " answer
  case $answer in
    [nN]*)
      mkdir -p "$CUDA_WHEELS"
      echo "$driver" >"$CUDA_WHEELS/declined"
      say "GPUs are not used. --with-cuda fetches it later."
      return 1
      ;;
  esac
}

# fetch_wheels FOLDER WHEEL...: their files into FOLDER, and nothing into any Python.
fetch_wheels() {
  local folder=$1 quiet=--quiet
  shift
  [ ! -t 2 ] || quiet=--progress-bar=on
  python3 -m pip --version >/dev/null 2>&1 || install_missing python3-pip
  if ! PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 python3 -m pip install $quiet --no-input --disable-pip-version-check \
    --root-user-action=ignore --no-compile --only-binary :all: --target "$folder" "$@" >&2; then
    say "CUDA could not be fetched from pypi.org; run this again, or with --without-cuda."
    exit 1
  fi
}

# Whether CUDA 13 suits the driver and the GPUs: it needs driver 580, and has no code for a GPU below 7.5 (V100),
# which driver 580 still drives.
cuda_13_suits() {
  local driver=$1 capability
  [ -z "$driver" ] || [ "${driver%%.*}" -ge 580 ] || return 1
  for capability in $(ask_gpus compute_cap); do
    [ "${capability%.*}${capability#*.}" -ge 75 ] || return 1
  done
}

# Fetches compiler and libraries that suit driver and GPUs: CUDA 13, whose wheels bring nvcc, or CUDA 12, whose wheels
# bring headers, ptxas and libraries, with clang++ as compiler.
fetch_cuda() {
  local driver new=$CUDA_WHEELS/new toolkit=$CUDA_WHEELS/toolkit parts="nvcc,cudart,cublas,cccl,nvtx" part
  driver=$(driver_version)
  rm -rf "$new" "$toolkit" "$CUDA_WHEELS/compiler" "$CUDA_WHEELS/declined"
  mkdir -p "$new"
  if cuda_13_suits "$driver"; then
    say "Fetching CUDA 13.0 and NCCL${driver:+ for driver $driver}"
    fetch_wheels "$new" "cuda-toolkit[$parts]==13.0.*" nvidia-nccl-cu13
  else
    say "Fetching CUDA 12.9 and NCCL for driver $driver; clang++ compiles for it"
    install_missing "$(clang_package)"
    fetch_wheels "$new" "cuda-toolkit[$parts]==12.9.*" nvidia-nccl-cu12
    # CUDA 12's wheels lack fatbinary.
    fetch_wheels "$new/fatbinary" --no-deps "nvidia-cuda-nvcc==13.0.*"
    mkdir -p "$new/nvidia/cuda_nvcc/libexec"
    mv "$new/fatbinary/nvidia/cu13/bin/fatbinary" "$new/nvidia/cuda_nvcc/libexec/"
  fi
  # Every wheel has a folder of its own there, except that CUDA 13's share one.
  mkdir "$CUDA_WHEELS/merged"
  for part in "$new"/nvidia/*/; do cp -al "$part". "$CUDA_WHEELS/merged"; done
  mv "$CUDA_WHEELS/merged" "$toolkit"
  rm -rf "$new"
  complete_toolkit "$toolkit"
}

# The names that compilers and CMake look for and wheels lack.
complete_toolkit() {
  local toolkit=$1 library version
  ln -s lib "$toolkit/lib64"
  for library in "$toolkit"/lib/lib*.so.*; do
    [ -e "${library%.so.*}.so" ] || ln -s "$(basename "$library")" "${library%.so.*}.so"
  done
  if [ -x "$toolkit/bin/nvcc" ]; then
    echo "$toolkit/bin/nvcc" >"$CUDA_WHEELS/compiler"
    return
  fi
  version=$(awk '$2 == "CUDA_VERSION" {printf "%d.%d", $3 / 1000, $3 % 1000 / 10}' "$toolkit/include/cuda.h")
  sed "s/@VERSION@/$version/g" "$ROOT/app/cuda/nvcc" >"$toolkit/bin/nvcc"
  cp "$ROOT/app/cuda/fatbinary" "$toolkit/bin/fatbinary"
  chmod +x "$toolkit/bin/nvcc" "$toolkit/bin/fatbinary"
  # clang++ includes this header of cuRAND's before every source, and nothing here uses it.
  [ -e "$toolkit/include/curand_mtgp32_kernel.h" ] || : >"$toolkit/include/curand_mtgp32_kernel.h"
  command -v "$(clang_package | sed 's/clang/clang++/')" >"$CUDA_WHEELS/compiler"
}

# The newest clang that Debian has of those that compile for CUDA 12 and compute capability 9.0.
clang_package() {
  local version
  for version in 19 18 17 16; do
    if command -v "clang++-$version" >/dev/null || apt-cache show "clang-$version" >/dev/null 2>&1; then
      echo "clang-$version"
      return
    fi
  done
  say "CUDA 12 needs clang 16 to 19, and this system has none of them: install one, or a driver 580 or newer."
  exit 2
}
