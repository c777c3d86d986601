# Sets up what the scripts need, on a machine that may have nothing but Python 3.11+. Sourced, never run.
#
#   setup run|dev|sdk|ray .venv with the pinned packages of that layer, and unspool itself, editable
#   setup_venv DIR FILE   another environment, from one file of pins
#   setup_ccusage         sets UNSPOOL_CCUSAGE where npm can install it
#   setup_ccs_cloner      sets UNSPOOL_CCS_CLONER where npm can install it
#   setup_ripgrep         sets UNSPOOL_RIPGREP where there is one, or where Debian's can be installed
#   setup_axe             sets UNSPOOL_AXE, the script that checks pages for accessibility, where npm can install it
#   setup_chromium        sets UNSPOOL_CHROMIUM where there is one, or where Debian's can be installed
#   setup_postgresql      sets UNSPOOL_POSTGRES, the folder of its programs, where there is one or Debian's can be installed
#   setup_live_agents     sets UNSPOOL_LIVE, the folder of the real agents, where npm can install them and root can run them
#
# Everything made lies in .venv and .cache, but for Debian's packages. A stamp makes the second time quick. A later
# need is one more function here.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
CACHE="$ROOT/.cache"
VENV="$ROOT/.venv"
CCUSAGE_VERSION=20.0.24
CCS_CLONER_VERSION=0.5.0
AXE_VERSION=4.14.0
PYTHON="${PYTHON:-}"
UV=""

say() { printf 'unspool: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# A home that cannot be written to (none, or another user's) must not stop uv, pip or npm.
if [ ! -w "${HOME:-/nonexistent}" ]; then
  export UV_CACHE_DIR="${UV_CACHE_DIR:-$CACHE/uv-cache}" PIP_CACHE_DIR="${PIP_CACHE_DIR:-$CACHE/pip-cache}"
  export npm_config_cache="${npm_config_cache:-$CACHE/npm-cache}"
fi
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# Compiled modules are kept, whatever the caller's environment says: starting up is what users feel.
unset PYTHONDONTWRITEBYTECODE
export UV_COMPILE_BYTECODE=1

find_python() {
  local name
  for name in "$PYTHON" python3 python python3.15 python3.14 python3.13 python3.12 python3.11; do
    [ -n "$name" ] || continue
    PYTHON="$("$name" -c 'import sys; sys.version_info >= (3, 11) and print(sys.executable)' 2>/dev/null || true)"
    if [ -n "$PYTHON" ]; then return; fi
  done
  die "Python 3.11 or newer is needed and none was found; set PYTHON to its path."
}

# pip of the Python found, wherever its distributor left it; `--python` points it at the environment to fill.
run_pip() {
  local wheel
  if "$PYTHON" -m pip --version >/dev/null 2>&1; then
    "$PYTHON" -m pip "$@"
    return
  fi
  wheel="$("$PYTHON" - <<'PY' 2>/dev/null || true
from importlib.util import find_spec
from pathlib import Path

places = [Path("/usr/share/python-wheels")]
if (spec := find_spec("ensurepip")) and spec.origin:
    places += [Path(spec.origin).parent / "_bundled"]
print(next((str(wheel) for place in places for wheel in place.glob("pip-*.whl")), ""))
PY
)"
  if [ -z "$wheel" ]; then return 127; fi
  PYTHONPATH="$wheel" "$PYTHON" -m pip "$@"
}

# Debian's bare Python has neither pip nor the parts to make one; as root they can be had from the system.
have_pip() {
  if run_pip --version >/dev/null 2>&1; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "this Python has no pip: installing the system's"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy python3-pip; } >&2 </dev/null || true
    run_pip --version >/dev/null 2>&1 && return
  fi
  die "neither uv nor pip was found; install uv, or your system's python3-venv or python3-pip, and run this again."
}

find_uv() {
  if uv --version >/dev/null 2>&1; then
    UV=uv
    return
  fi
  if [ ! -x "$CACHE/uv/bin/uv" ]; then
    have_pip
    say "installing uv into .cache/uv"
    run_pip install -q --require-hashes --target "$CACHE/uv" -r "$ROOT/requirements/uv.txt" >&2 || return 0
  fi
  if "$CACHE/uv/bin/uv" --version >/dev/null 2>&1; then UV="$CACHE/uv/bin/uv"; fi
}

# install DIR ARGUMENTS...: uv is quick; where it cannot do it (a mirror that only pip is told of), pip does.
install() {
  local dir="$1"
  shift
  if [ -n "$UV" ] && "$UV" pip install -q --python "$dir/bin/python" "$@"; then return; fi
  if [ -n "$UV" ]; then say "uv could not install; trying pip"; fi
  have_pip
  run_pip --python "$dir/bin/python" install -q "$@"
}

works() { "$1/bin/python" -c 'import sys' >/dev/null 2>&1 && [ "$(cat "$1/stamp-place" 2>/dev/null)" = "$1" ]; }

# An environment holds its own path, so a moved or copied one is made anew.
make_venv() {
  if works "$1"; then return; fi
  rm -rf "$1"
  "$PYTHON" -m venv --without-pip "$1" || die "could not make the environment $1."
  printf '%s' "$1" >"$1/stamp-place"
}

prepare() {
  mkdir -p "$CACHE"
  if command -v flock >/dev/null; then
    exec 9>"$CACHE/setup.lock"
    flock 9
  fi
  find_python
  if [ -z "$UV" ]; then find_uv; fi
}

done_with() {
  printf '%s' "$2" >"$1"
  if command -v flock >/dev/null; then exec 9>&-; fi
}

fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

# The layers share .venv: run is what a user gets, dev, sdk and ray add to it.
setup() {
  local layer="$1" stamp="$VENV/stamp-$1" key
  key="$(cat "$ROOT/pyproject.toml" "$ROOT/requirements/$layer.txt" | cksum)"
  if works "$VENV" && fresh "$stamp" "$key"; then return; fi
  say "setting up .venv ($layer)"
  prepare
  make_venv "$VENV"
  install "$VENV" --require-hashes -r "$ROOT/requirements/$layer.txt" || die "could not install requirements/$layer.txt."
  install "$VENV" --no-deps -e "$ROOT" || die "could not install unspool itself."
  done_with "$stamp" "$key"
}

setup_venv() {
  local dir="$1" file="$2" key
  key="$(cksum <"$file")"
  if works "$dir" && fresh "$dir/stamp" "$key"; then return; fi
  say "setting up ${dir#"$ROOT/"}"
  prepare
  make_venv "$dir"
  install "$dir" --require-hashes -r "$file" || return
  done_with "$dir/stamp" "$key"
}

setup_ccusage() {
  local dir="$CACHE/ccusage-$CCUSAGE_VERSION"
  UNSPOOL_CCUSAGE="${UNSPOOL_CCUSAGE:-$dir/node_modules/.bin/ccusage}"
  if [ ! -x "$UNSPOOL_CCUSAGE" ] && command -v npm >/dev/null; then
    say "installing ccusage $CCUSAGE_VERSION into ${dir#"$ROOT/"}"
    npm install --silent --no-audit --no-fund --prefix "$dir" "ccusage@$CCUSAGE_VERSION" >&2 </dev/null || true
  fi
  # It is only there when it runs: npm counts its program for this kind of machine as optional.
  if "$UNSPOOL_CCUSAGE" --version >/dev/null 2>&1; then
    export UNSPOOL_CCUSAGE
  else
    unset UNSPOOL_CCUSAGE
    say "no ccusage (npm is missing or could not install it): what compares with it is skipped"
  fi
}

setup_ccs_cloner() {
  local dir="$CACHE/ccs-cloner-$CCS_CLONER_VERSION"
  UNSPOOL_CCS_CLONER="${UNSPOOL_CCS_CLONER:-$dir/node_modules/.bin/ccs-cloner}"
  if [ ! -x "$UNSPOOL_CCS_CLONER" ] && command -v npm >/dev/null; then
    say "installing ccs-cloner $CCS_CLONER_VERSION into ${dir#"$ROOT/"}"
    npm install --silent --no-audit --no-fund --prefix "$dir" "ccs-cloner@$CCS_CLONER_VERSION" >&2 </dev/null || true
  fi
  if "$UNSPOOL_CCS_CLONER" --version >/dev/null 2>&1; then
    export UNSPOOL_CCS_CLONER
  else
    unset UNSPOOL_CCS_CLONER
    say "no ccs-cloner (npm is missing or could not install it): what compares with it is skipped"
  fi
}

setup_axe() {
  local dir="$CACHE/axe-core-$AXE_VERSION"
  UNSPOOL_AXE="${UNSPOOL_AXE:-$dir/node_modules/axe-core/axe.min.js}"
  if [ ! -f "$UNSPOOL_AXE" ] && command -v npm >/dev/null; then
    say "installing axe-core $AXE_VERSION into ${dir#"$ROOT/"}"
    npm install --silent --no-audit --no-fund --prefix "$dir" "axe-core@$AXE_VERSION" >&2 </dev/null || true
  fi
  if [ -f "$UNSPOOL_AXE" ]; then export UNSPOOL_AXE; else unset UNSPOOL_AXE; fi
}

setup_ripgrep() { setup_debian ripgrep rg UNSPOOL_RIPGREP; }

setup_wrk() { setup_debian wrk wrk UNSPOOL_WRK; }

# setup_debian PACKAGE PROGRAM VARIABLE: a program of the system's, installed where that can be done, and where it is.
setup_debian() {
  local found
  if ! command -v "$2" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $1"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends "$1"; } \
      >&2 </dev/null || true
  fi
  if found="$(command -v "$2")"; then
    export "$3=$found"
  else
    unset "$3"
    say "no $1: what needs it is skipped"
  fi
}

# The system's own browser: a download of another 150 MB would be a browser nobody uses.
setup_chromium() {
  find_chromium
  if [ -z "${UNSPOOL_CHROMIUM:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing chromium"
    {
      apt-get update -qq
      for names in "chromium chromium-headless-shell" chromium; do  # what prints and draws looks for the former
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends $names && break
      done
    } >&2 </dev/null || true
    find_chromium
  fi
  [ -n "${UNSPOOL_CHROMIUM:-}" ] || say "no chromium: the tests of pages in a browser are skipped"
}

find_chromium() {
  local name
  # The one without windows is the same engine and needs a quarter less time.
  for name in "${UNSPOOL_CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && "$name" --version >/dev/null 2>&1; then
      UNSPOOL_CHROMIUM="$(command -v "$name")"
      export UNSPOOL_CHROMIUM
      return
    fi
  done
  unset UNSPOOL_CHROMIUM
}

# The tests start a server of their own from these programs; one that the system's package starts is left alone.
setup_postgresql() {
  find_postgresql
  if [ -z "${UNSPOOL_POSTGRES:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing postgresql"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends postgresql; } \
      >&2 </dev/null || true
    find_postgresql
  fi
  [ -n "${UNSPOOL_POSTGRES:-}" ] || say "no postgresql: the tests of a hub on servers are skipped, but in CI they fail"
}

find_postgresql() {
  local dir
  for dir in "${UNSPOOL_POSTGRES:-}" $(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin | sort -rV) \
    "$(dirname "$(command -v initdb || echo /nonexistent/initdb)")"; do
    if [ -n "$dir" ] && "$dir/postgres" --version >/dev/null 2>&1 && [ -x "$dir/initdb" ]; then
      UNSPOOL_POSTGRES="$dir"
      export UNSPOOL_POSTGRES
      return
    fi
  done
  unset UNSPOOL_POSTGRES
}

# The real agents, of the version that npm has today unless UNSPOOL_LIVE_CLAUDE, _CODEX, _PI, ... names one. They run
# in a network namespace of their own, which takes root; their screens are driven in tmux. All but the first two are
# left out where npm has none that runs here. 0.74.2 is the last pi for a Node older than 22.
setup_live_agents() {
  local dir="$CACHE/live-agents" why=""
  unset UNSPOOL_LIVE
  if ! command -v npm >/dev/null; then
    why="there is no npm"
  elif ! unshare -n true 2>/dev/null; then
    why="no network namespace can be made, which takes root and unshare"
  else
    setup_debian tmux tmux UNSPOOL_TMUX
    setup_debian iproute2 ip UNSPOOL_IP
    command -v tmux >/dev/null && command -v ip >/dev/null || why="tmux or iproute2 is missing"
  fi
  if [ -z "$why" ]; then
    install_agent "$dir" claude @anthropic-ai/claude-code "${UNSPOOL_LIVE_CLAUDE:-latest}" || why="npm has no Claude Code"
    install_agent "$dir" codex @openai/codex "${UNSPOOL_LIVE_CODEX:-latest}" || why="npm has no Codex"
    install_other "$dir" copilot @github/copilot "${UNSPOOL_LIVE_COPILOT:-latest}"
    install_other "$dir" gemini @google/gemini-cli "${UNSPOOL_LIVE_GEMINI:-latest}"
    install_other "$dir" opencode opencode-ai "${UNSPOOL_LIVE_OPENCODE:-latest}"
    install_other "$dir" pi @earendil-works/pi-coding-agent "${UNSPOOL_LIVE_PI:-latest}" 0.74.2
    install_other "$dir" qwen @qwen-code/qwen-code "${UNSPOOL_LIVE_QWEN:-latest}"
  fi
  if [ -n "$why" ]; then
    say "the tests with real agents are skipped: $why"
    return
  fi
  export UNSPOOL_LIVE="$dir"
}

# install_other DIR NAME PACKAGE VERSION...: the first of the versions that runs here; without one, a sentence.
install_other() {
  local dir="$1" name="$2" package="$3" version
  shift 3
  for version in "$@"; do
    if install_agent "$dir" "$name" "$package" "$version"; then return; fi
    rm -rf "${dir:?}/$name" "$dir/$name"-*
  done
  say "the tests with $name are skipped: npm has none that runs here"
}

# install_agent DIR NAME PACKAGE VERSION: DIR/NAME leads to that version. Without the registry, what was installed before
# stays; what it replaces goes, since each is some 300 MB.
install_agent() {
  local dir="$1" name="$2" package="$3" version other
  version="$(npm view "$package@$4" version 2>/dev/null </dev/null | tail -n 1 || true)"
  if [ -n "$version" ] && [ ! -x "$dir/$name-$version/node_modules/.bin/$name" ]; then
    say "installing $package $version into ${dir#"$ROOT/"}"
    npm install --silent --no-audit --no-fund --prefix "$dir/$name-$version" "$package@$version" >&2 </dev/null || version=""
  fi
  if [ -n "$version" ]; then
    ln -sfn "$name-$version" "$dir/$name"
    for other in "$dir/$name"-*; do
      if [ "$other" != "$dir/$name-$version" ]; then rm -rf "$other"; fi
    done
  fi
  "$dir/$name/node_modules/.bin/$name" --version >/dev/null 2>&1
}
