# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by app/run and tests/run: installs what is missing, configures and builds. Sourced, not run.
# Sets BUILD to the build folder.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build/release
STEPS=${STEPS:-3}
# shellcheck source=app/cuda.sh
source "$ROOT/app/cuda.sh"

# Debian packages that a build needs.
BUILD_PACKAGES="g++ cmake ninja-build ccache pkg-config nlohmann-json3-dev libcli11-dev libfmt-dev
  libhwloc-dev libdnnl-dev libopenblas-serial-dev libmd4c-dev qt6-base-dev qt6-svg-dev
  qt6-l10n-tools qt6-tools-dev libqcustomplot-dev libgl1-mesa-dev"

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

# Installs the missing ones of the named packages; exits 2 with one line for the administrator when it
# may not.
install_missing() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "These Debian packages are needed and this system has no apt-get: $missing"
    exit 2
  fi
  local sudo=
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
      say "Packages are missing. Ask an administrator to run:"
      say "apt-get update && apt-get install --no-install-recommends -y $missing"
      exit 2
    fi
    sudo=sudo
  fi
  say "Installing: $missing"
  # shellcheck disable=SC2086  # the list is words
  if ! { run_apt "$sudo" update && run_apt "$sudo" install --no-install-recommends -y $missing; }; then
    say "apt-get could not install: $missing"
    exit 2
  fi
}

# run_apt "sudo or nothing" words...: apt-get, quietly. Where another one is at work, as the unattended upgrade of a
# computer that was just started is, waits for it, at most APT_PATIENCE seconds (600).
run_apt() {
  local sudo=$1 log deadline=$((SECONDS + ${APT_PATIENCE:-600})) told=  # told: seconds for dpkg's lock, once a person knows
  shift
  log=$(mktemp)
  # apt waits for dpkg's lock by itself, and not for that of its lists.
  until $sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout="${told:-0}" "$@" >"$log" 2>&1; do
    if ! grep -qE 'Could not get lock|Unable to (acquire|lock)' "$log" || [ $SECONDS -ge $deadline ]; then
      tail -n 5 "$log" >&2
      rm -f "$log"
      return 1
    fi
    [ -n "$told" ] || say "Another program is installing packages; waiting until it has ended."
    told=60
    sleep 2
  done
  rm -f "$log"
}

# Compilers of this project need up to about 2 GiB each.
build_jobs() {
  local cores memory_gib
  cores=$(nproc)
  memory_gib=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  local by_memory=$((memory_gib / 2))
  [ "$by_memory" -ge 1 ] || by_memory=1
  [ "$cores" -le "$by_memory" ] && echo "$cores" || echo "$by_memory"
}

# Whether the build folder is configured with every -DNAME=VALUE that is asked for, and for the CUDA that is here now.
is_configured() {
  [ -f "$BUILD/build.ninja" ] || return 1
  local option
  for option in "$@"; do
    option=${option#-D}
    grep -q "^${option%%=*}:[A-Z]*=${option#*=}$" "$BUILD/CMakeCache.txt" || return 1
  done
  [ "$(cat "$BUILD/cuda.stamp" 2>/dev/null)" = "$(cuda_stamp)" ]
}

# configure -DNAME=VALUE...: where that is not so already. What a person chose earlier stays. GPU code is for the GPUs
# that are here, unless EVERY_GPU says otherwise or there are none.
configure() {
  local log=$ROOT/build-configure.log
  local gpus=
  [ -n "${EVERY_GPU:-}" ] || gpus=$(gpu_capabilities)
  set -- "-DPARALLELARIUM_GPUS=$gpus" "$@"
  is_configured "$@" && return
  if ! cmake --preset release "$@" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "Configuring failed; the whole log is build-configure.log."
    exit 1
  fi
  mv "$log" "$BUILD/configure.log"
  cuda_stamp >"$BUILD/cuda.stamp"
}

# prepare "extra packages" target... ; CONFIGURE_OPTIONS are -DNAME=VALUE. WITH_CUDA is yes, no or ask; without it nothing
# is said of a missing compiler for GPUs.
prepare() {
  local packages=$1
  shift
  cd "$ROOT" || exit 1
  say "Step 1 of $STEPS: packages"
  # shellcheck disable=SC2086
  install_missing $BUILD_PACKAGES $packages
  say "Step 2 of $STEPS: configure and build ($(build_jobs) jobs; the first time takes minutes)"
  # shellcheck disable=SC2086
  configure ${CONFIGURE_OPTIONS:-}
  if [ -n "${WITH_CUDA:-}" ] && cuda_is_missing && cuda_is_wanted; then
    fetch_cuda
    # shellcheck disable=SC2086
    configure ${CONFIGURE_OPTIONS:-}
    if cuda_is_missing; then
      say "What was fetched cannot be used: $(cuda_missing_because)"
      exit 1
    fi
  fi
  if [ $# -gt 0 ] && has_cuda; then set -- "$@" parallelarium-cuda; fi
  cmake --build "$BUILD" -j "$(build_jobs)" ${1:+--target "$@"} >&2 || {
    say "The build failed; its first error is above."
    exit 1
  }
}
