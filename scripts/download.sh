# How every script downloads: sourced, not run.
#
#   try_download REGISTRY COMMAND...
#
# runs COMMAND until it succeeds, with pauses, for up to HAWTHORN_DOWNLOAD_SECONDS (300). When that
# is over, it says that REGISTRY (its name as a reader knows it: "Debian's packages", "crates.io")
# did not give what was asked for, and returns the last exit code. COMMAND may be a function of the
# script; it is run anew from its beginning, and bounds how long one attempt takes.
#
#   download_cache NAME
#
# prints the folder of the user's cache in which downloads of this kind stay, outside of the build
# folders, and makes it; HAWTHORN_DOWNLOAD_CACHE takes the place of ~/.cache/hawthorn.
try_download() {
  local registry=$1 limit=${HAWTHORN_DOWNLOAD_SECONDS:-300} started=$SECONDS pause=2 attempts=0 code
  shift
  while true; do
    attempts=$((attempts + 1))
    "$@" && return 0
    code=$?
    if [ $((SECONDS - started + pause)) -ge "$limit" ]; then
      echo "download from $registry failed: $attempts attempts in $((SECONDS - started)) s," \
        "the last of: $*" >&2
      return "$code"
    fi
    echo "download from $registry failed; the next attempt is in $pause s" >&2
    sleep "$pause"
    pause=$((pause < 30 ? pause * 2 : 30))
  done
}

download_cache() {
  local folder=${HAWTHORN_DOWNLOAD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hawthorn}/$1
  mkdir -p "$folder"
  echo "$folder"
}
