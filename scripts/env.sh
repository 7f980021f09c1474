# Sourced by the other scripts: makes .venv from pyproject.toml and puts it first on PATH.
# Usage: . scripts/env.sh [dev]   ("dev" adds what tests and checks need)
set -eu
cd "$(dirname "$0")/.."
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME

suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null; }
find_python() {
    for candidate in "${PYTHON:-}" python3 python python3.14 python3.13 python3.12 python3.11; do
        if [ -n "$candidate" ] && suits "$candidate"; then echo "$candidate"; return; fi
    done
    echo "harry needs Python 3.11 to 3.14 on the PATH, or PYTHON set to one." >&2
    return 1
}

wanted="$(cksum < pyproject.toml) ${1:-}"
if [ "$(cat .venv/made-from 2>/dev/null || true)" != "$wanted" ] && \
   [ "$(cat .venv/made-from 2>/dev/null || true)" != "$(cksum < pyproject.toml) dev" ]; then
    python="$(find_python)"
    echo "Making the environment in .venv (once) ..." >&2
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --allow-existing --python "$(command -v "$python")" .venv
        if [ "${1:-}" = dev ]; then set -- --group dev; else set --; fi
        uv pip install --quiet --python .venv -e . "$@"
    else
        "$python" -m venv .venv
        .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
        if [ "${1:-}" = dev ]; then set -- --group dev; else set --; fi
        .venv/bin/python -m pip install --quiet -e . "$@"
    fi
    echo "$wanted" > .venv/made-from
fi
PATH="$PWD/.venv/bin:$PATH"
export PATH
