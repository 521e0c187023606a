# SPDX-License-Identifier: Apache-2.0
# For tests/gpu/run: runs commands within the time that DEADLINE leaves, and writes down what became
# of each. Sourced, not run.
#
# Needs $results, the file to write; $options, what it names the call; $tmp, a folder for this call
# alone; $gpus, how many there are: where there is none, nothing is written.
# shellcheck shell=bash disable=SC2016,SC2154  # Markdown's backquotes; what tests/gpu/run sets
logs=${results%.md}-$(date -u +%F-%H%M%S)
failed=no opened=no

open_results() {
  local gpu cuda commit=${COMMIT:-} own=(':!tests/gpu/RESULTS*')
  [ $opened = no ] || return
  opened=yes
  if [ -z "$commit" ]; then
    # What this script writes is no change; outside the repository Git refuses to exclude it.
    [[ $results == /* ]] || own+=(":!$results" ":!${results%.md}-*")
    commit=$(git rev-parse --short HEAD 2>/dev/null) || commit=unknown
    [ -z "$(git status --porcelain -- . "${own[@]}" 2>/dev/null)" ] || commit="$commit with changes"
  fi
  mkdir -p "$(dirname "$results")"
  [ -f "$results" ] ||
    printf '<!-- SPDX-License-Identifier: Apache-2.0 -->\n# What ran on GPUs\n\nWritten by `tests/gpu/run`, newest last.\n' >"$results"
  gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed -n 1p)
  gpu=${gpu:-a GPU, unknown}
  cuda=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/CUDA \1/p')
  [ "$gpus" -lt 2 ] || gpu="$gpus x $gpu"
  {
    printf '\n## %s · %s\n\n' "$(date -u +%F)" "${gpu%%,*}"
    printf 'Driver %s, %s, commit %s, `%s`.\n' "${gpu##*, }" "${cuda:-no nvcc}" "$commit" "$options"
  } >>"$results"
  head_ends=$(wc -l <"$results")  # where the goals go
}

# The name of the computer stays out.
unnamed() {
  local host
  host=$(uname -n)
  sed -e "s/^\(Calibrated [^ ]*\) on $host\./\1./" -e "s/^$host\$/This computer/" \
    -e "s/\( of rank [0-9]*\) on $host /\1 /"
}

# record TITLE WORDS [FILE]...: a section with these words and what the files hold, each below its
# name, and "stdout" alone in $fence. For the goals it is kept with all of $tmp/stdout.
fence='```'
record() {
  local title=$1 words=$2 file fence=$fence
  shift 2
  echo "== $title${words:+: $words}"
  [ "$gpus" -gt 0 ] || return 0
  open_results
  {
    printf '\n### %s\n' "$title"
    [ -z "$words" ] || printf '\n%s\n' "$words"
    for file in "$@"; do
      [ -s "$file" ] || continue
      [ "${file##*/}" = stdout ] || { printf '\n%s:\n' "${file##*/}" && fence='```'; }
      printf '\n%s' "${fence:+$fence$'\n'}"
      cat "$file"
      printf '%s' "${fence:+$fence$'\n'}"
    done
  } | unnamed >>"$results"
  {
    printf '### %s\n%s\n' "$title" "${words//$'\n'/ }"
    cat "$tmp/stdout" 2>/dev/null
  } >>"$tmp/sections"
  rm -f "$tmp/stdout"  # told once
}

# fail TITLE REASON FILE...: a section with the last lines of each file, which is kept whole.
fail() {
  local title=$1 reason=$2 file tails=()
  shift 2
  failed=yes
  mkdir -p "$tmp/tails"
  for file in "$@"; do
    tail -n 100 "$file" >"$tmp/tails/${file##*/}"  # a whole table of which one row failed
    tails+=("$tmp/tails/${file##*/}")
    keep "$title" "$file"
  done
  record "$title" "**FAILED**: $reason." "${tails[@]}"
}
keep() {  # TITLE FILE
  [ -s "$2" ] && [ "$gpus" -gt 0 ] && mkdir -p "$logs" &&
    unnamed <"$2" >"$logs/${1//[^A-Za-z0-9]/-}.${2##*/}"
}

# fits TITLE SECONDS [LEAST]: sets `limit` to these seconds, or to what DEADLINE leaves but for 15.
# Where that is less than LEAST (30), it records so.
fits() {
  local left=$((${DEADLINE:-1000000} - SECONDS))
  limit=$2 cut=
  [ $((left - 15)) -ge "$2" ] || limit=$((left - 15)) cut=", all that DEADLINE left"
  [ "$limit" -ge "${3:-30}" ] && return
  failed=yes
  record "$1" "Not run: of the $DEADLINE s of DEADLINE, $left are left."
  return 1
}

# run COMMAND...: within $limit seconds. Leaves its output in stdout and stderr of $tmp, its exit
# status in `status`, and in `reason` what to say where that is a failure. Where it had to be stopped, so
# is what it started: ctest leaves its tests behind, and later stages would be measured beside them.
run() {
  timeout -k 10 "$limit" "$@" 2>"$tmp/stderr" | tee "$tmp/stdout"
  status=${PIPESTATUS[0]}
  cat "$tmp/stderr" >&2
  sed -i '/^ *[0-9]* %  /d' "$tmp/stderr"  # the engine's progress
  case $status in
    124 | 137)
      pkill -KILL -f '^[^ ]*build/gpu/bin/' 2>/dev/null
      reason="it did not end within $limit s$cut"
      ;;
    *) reason="exit status $status" ;;
  esac
}

# step TITLE SECONDS COMMAND...: a section of what the command prints within these seconds.
# Status 77: it skips, and its last line says why.
step() {
  local title=$1
  fits "$title" "$2" || return
  shift 2
  run "$@"
  case $status in
    0) record "$title" "" "$tmp/stdout" "$tmp/stderr" ;;
    77) record "$title" \
      "Skipped: $(cat "$tmp/stdout" "$tmp/stderr" | tail -n 1 | sed 's/^[Ss]kipped: //')" ;;
    *) fail "$title" "$reason" "$tmp/stdout" "$tmp/stderr" ;;
  esac
}

finish() {
  if [ $opened = yes ]; then
    { printf '\n### Goals\n\n' && python3 tests/gpu/goals.py "$tmp/sections"; } |
      unnamed | tee "$tmp/goals"
    sed -i "${head_ends}r $tmp/goals" "$results"
    echo "Kept in $results."
  fi
  [ ! -d "$logs" ] || echo "What failed printed more, which is in $logs."
  [ $failed = no ]
  exit
}
