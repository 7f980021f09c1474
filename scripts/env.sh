# Sourced by the other scripts: makes .venv from pyproject.toml and puts it first on PATH.
# Set need=dev before, and it holds what tests and checks need as well. (dash passes no arguments to a sourced file.)
set -eu
cd "$(dirname "$0")/.." # $0 is the script that sources this one
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME

suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null; }
find_python() {
    for candidate in "${PYTHON:-}" python3 python python3.14 python3.13 python3.12 python3.11; do
        if [ -n "$candidate" ] && suits "$candidate"; then echo "$candidate"; return; fi
    done
    echo "harry needs Python 3.11 to 3.14 on the PATH, or PYTHON set to one." >&2
    return 1
}

groups=""
if [ "${need:-}" = dev ]; then groups="--group dev"; fi
sum="$(cksum < pyproject.toml)"
made="$(cat .venv/made-from 2>/dev/null || true)"
if [ "$made" != "$sum $groups" ] && [ "$made" != "$sum --group dev" ]; then
    python="$(find_python)"
    echo "Making the environment in .venv (once) ..." >&2
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --allow-existing --python "$(command -v "$python")" .venv
        uv pip install --quiet --python .venv -e . $groups
    else
        "$python" -m venv .venv
        .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
        .venv/bin/python -m pip install --quiet -e . $groups
    fi
    echo "$sum $groups" > .venv/made-from
fi
PATH="$PWD/.venv/bin:$PATH"
export PATH
