# Shared by examples/run, tests/run and .ci/run: packages, build and installation of cuPilot itself.
# To be sourced; sets and uses ROOT (the checkout) and BUILD (its build folder).

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
BUILD="${CUPILOT_BUILD_FOLDER:-$ROOT/build}"

say() { printf '%s\n' "$*"; }
die() { printf 'cupilot: %s\n' "$*" >&2; exit 3; }

# What has to be there, by distribution. LLVM_VERSION is the one variable that names the parser's version.
choose_packages() {
  LLVM_VERSION=19
  local id="" version=""
  if [ -r /etc/os-release ]; then
    id="$(. /etc/os-release && printf '%s' "${ID:-}")"
    version="$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")"
  fi
  PACKAGES="g++ cmake ninja-build make pkg-config libuv1-dev libzmq3-dev cppzmq-dev librocksdb-dev
    libcurl4-openssl-dev nlohmann-json3-dev libgtest-dev libgmock-dev
    clang-$LLVM_VERSION libclang-$LLVM_VERSION-dev llvm-$LLVM_VERSION-dev lld-$LLVM_VERSION libcli11-dev libspdlog-dev libfmt-dev
    libexpected-dev libboost-context-dev libeigen3-dev libkainjow-mustache-dev libsodium-dev libzstd-dev
    libdeflate-tools libseccomp-dev bubblewrap node-d3-scale node-d3-axis node-d3-shape node-d3-selection node-diff"
  case "$id:$version" in
    debian:12 | debian:13) PLATFORM="Debian $version" ;;
    ubuntu:24.04) PLATFORM="Ubuntu 24.04 (its universe component must be enabled)" ;;
    *) PLATFORM="" ;;
  esac
}

missing_packages() { # PACKAGE...
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
      *" installed") ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# install_packages [EXTRA...]: installs what is missing, after saying what and how much.
install_packages() {
  choose_packages
  install_only $PACKAGES "$@"
}

# install_only PACKAGE...: these, and not what the build needs.
install_only() {
  choose_packages
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this script installs packages on Debian 12, Debian 13 and Ubuntu 24.04 only. Elsewhere please
install the equivalents of: $*
then run: cmake --preset release && cmake --build --preset release"
  fi
  local missing
  missing="$(missing_packages "$@")"
  [ -z "$missing" ] && return 0
  [ -n "$PLATFORM" ] || die "unknown distribution; please install: $missing"
  local sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "please install as root: apt-get install $missing"
    sudo="sudo"
  fi
  say "cuPilot needs these packages of $PLATFORM: $missing"
  local apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300"
  $apt update -qq || die "the package lists could not be read"
  LC_ALL=C $apt install --simulate -y $missing >/dev/null ||
    die "not all of them are to be had here (on Ubuntu: is universe enabled?): $missing"
  LC_ALL=C $apt install --assume-no $missing 2>/dev/null |
    grep -E '^(Need to get|After this operation)' || true
  $apt install -y -qq $missing >"${TMPDIR:-/tmp}/cupilot-packages.$$" 2>&1 || {
    tail -n 30 "${TMPDIR:-/tmp}/cupilot-packages.$$" >&2
    die "the packages could not be installed"
  }
  rm -f "${TMPDIR:-/tmp}/cupilot-packages.$$"
}

# configure PRESET [ARGUMENTS...], once; a changed argument configures again.
# Unity builds take half of the time from nothing. CUPILOT_UNITY=OFF compiles each file by itself, which is quicker after
# a change and shows whether each includes what it needs.
configure() {
  local preset="$1"; shift
  set -- "-DCMAKE_UNITY_BUILD=${CUPILOT_UNITY:-ON}" -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 "$@"
  local folder="$BUILD/$preset"
  mkdir -p "$folder"
  if [ ! -f "$folder/build.ninja" ] || [ "$(cat "$folder/.configured" 2>/dev/null)" != "$*" ]; then
    (cd "$ROOT" && cmake --preset "$preset" -B "$folder" "$@" >"$folder/configure.log" 2>&1) || {
      tail -n 40 "$folder/configure.log" >&2
      die "configuring the preset '$preset' failed; its log is $folder/configure.log"
    }
    printf '%s' "$*" >"$folder/.configured"
  fi
}

# build PRESET [TARGETS...]
build() {
  local preset="$1"; shift
  # tests/fresh/run --configure wants to know only whether this far all is there.
  [ -z "${CUPILOT_CONFIGURE_ONLY:-}" ] || { say "configured: $BUILD/$preset"; exit 0; }
  cmake --build "$BUILD/$preset" ${*:+--target "$@"} -- ${NINJA_FLAGS:-} || die "building '$preset' failed"
}

# install_into PREFIX: the release build, installed (only what changed is copied).
install_into() {
  cmake --install "$BUILD/release" --prefix "$1" >"$BUILD/release/install.log" 2>&1 || {
    tail -n 20 "$BUILD/release/install.log" >&2
    die "the installation failed"
  }
}

# private_folders DIR: XDG folders of our own, so that nothing of the user's is touched.
private_folders() {
  export XDG_CONFIG_HOME="$1/config" XDG_STATE_HOME="$1/state" XDG_CACHE_HOME="$1/cache"
  # The runtime folder is left to the fallback /tmp/cupilot-<uid>: a socket's path is at most 107 bytes.
  unset XDG_RUNTIME_DIR
  mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_CACHE_HOME"
}
