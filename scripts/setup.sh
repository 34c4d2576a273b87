#!/bin/sh
# Creates .venv with the locked packages, checked by hash, and links the project.
#
#   scripts/setup.sh run    the packages that the service needs
#   scripts/setup.sh dev    also the development tools
#
# Does nothing if .venv is up to date. Recreates an outdated or unfinished one.
set -eu

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

mode=${1-}
case $mode in
    run | dev) ;;
    *) die "usage: scripts/setup.sh run|dev" ;;
esac

cd -- "$(dirname -- "$0")/.."
root=$(pwd -P)

# Variables such as PIP_TARGET and PIP_USER must not redirect Python or pip.
# Variables that choose the package index and the network stay as they are.
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONUSERBASE PYTHONPLATLIBDIR __PYVENV_LAUNCHER__
for name in $(env | sed -n 's/^\(PIP_[A-Za-z0-9_]*\)=.*/\1/p'); do
    case $name in
        PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_NO_INDEX | PIP_FIND_LINKS | PIP_CONFIG_FILE) ;;
        PIP_TRUSTED_HOST | PIP_CERT | PIP_CLIENT_CERT | PIP_PROXY | PIP_KEYRING_PROVIDER) ;;
        PIP_TIMEOUT | PIP_DEFAULT_TIMEOUT | PIP_RETRIES | PIP_CACHE_DIR | PIP_NO_CACHE_DIR) ;;
        *) unset "$name" ;;
    esac
done

lock_of() { if [ "$1" = dev ]; then echo requirements-dev.lock; else echo requirements.lock; fi; }

# Everything that a finished .venv depends on. Its own Python prints the version,
# so that a removed interpreter is detected. The path is included because the
# installed scripts contain it.
fingerprint() {
    echo "$1 $root"
    .venv/bin/python -ISc 'import sys; print(sys.version)' || return 1
    cat "$(lock_of "$1")" scripts/setup.sh
}
stamp=.venv/.set-up
fits() { [ -f "$stamp" ] && fingerprint "$1" 2>/dev/null | cmp -s - "$stamp"; }

# The development packages include the others, in the same versions.
fits dev && exit 0
[ "$mode" = run ] && fits run && exit 0

# One set-up at a time, if flock is available; check again after waiting.
if command -v flock >/dev/null; then
    exec 9<.
    if ! flock -n 9; then
        say "waiting for another set-up of this directory"
        flock 9 || :
        fits "$mode" && exit 0
    fi
fi

# --- a Python -------------------------------------------------------------

# Succeeds if $1 is Python 3.11 or newer and has the modules of $2, if given.
is_python() {
    command -v "$1" >/dev/null 2>&1 &&
        "$1" -Ic "import sys; assert sys.version_info >= (3, 11); import ${2:-sys}" >/dev/null 2>&1
}

# Compiled by what a profile has shown, as distributions do without saying so (src/sealdesk/build.py).
is_optimised() {
    "$1" -Ic 'import sys, sysconfig
assert sys.base_prefix == "/usr" or "--enable-optimizations" in sysconfig.get_config_var("CONFIG_ARGS")' 2>/dev/null
}

# The first that is optimised, or else the first. Released versions, newest first: plain python3 may
# be a preview, for which packages have no wheels.
find_python() {
    usable=
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        for python in "$name" "/usr/bin/$name"; do
            is_python "$python" "venv, ensurepip, ssl, sqlite3" || continue
            usable=${usable:-$python}
            is_optimised "$python" && return
        done
    done
    python=$usable
    [ -n "$python" ]
}

install_python() {
    # On an older release, python3-venv would install an older Python.
    package=python3-venv
    if [ -x /usr/bin/python3 ] && ! is_python /usr/bin/python3; then package=python3.11-venv; fi
    missing="Python 3.11 or newer with venv is missing: install $package (sudo apt-get install $package)"

    command -v apt-get >/dev/null ||
        die "Python 3.11 or newer with venv, ssl and sqlite3 is missing: install python3 (and python3-venv, if it is separate) with the system's package manager"
    if [ "$(id -u)" = 0 ]; then sudo=
    elif sudo -n true 2>/dev/null; then sudo='sudo -n'
    else die "$missing"
    fi

    say "installing the system package $package"
    apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120"
    # An outdated list may be enough; only the installation must succeed.
    $apt update >/dev/null 2>&1 || say "apt-get update failed; trying the present lists"
    out=$($apt install -y --no-install-recommends "$package" 2>&1) || {
        printf '%s\n' "$out" >&2
        die "$missing"
    }
    PATH=/usr/bin:$PATH
    find_python || die "$missing"
}

# --- the environment ------------------------------------------------------

started=$(date +%s)
if fits run; then
    rm -f "$stamp"
else
    find_python || install_python
    say "making .venv with $("$python" -V) (the first time takes about a minute)"
    rm -rf .venv || die "cannot replace .venv: it seems to belong to another user"
    "$python" -Im venv .venv || die "could not make .venv"
fi

lock=$(lock_of "$mode")
say "installing $(grep -c '^[a-z].*==' "$lock") packages from $lock"
.venv/bin/python -Im pip --no-input --disable-pip-version-check install --no-user --no-deps \
    --require-hashes -r "$lock" >.venv/pip.log 2>&1 || {
    tail -n 20 .venv/pip.log >&2
    die "could not install the packages; the reason is above, and the whole log is .venv/pip.log"
}

# Linked, not installed: this needs no build, and edits take effect at once.
.venv/bin/python -I - <<'PYTHON'
import os
import sysconfig

site = sysconfig.get_path("purelib")
with open(os.path.join(site, "sealdesk.pth"), "w") as link:
    link.write(os.path.relpath("src", site) + "\n")
PYTHON
# Starts through sh, because a #! line cannot contain spaces or a long path.
cat >.venv/bin/sealdesk <<'SCRIPT'
#!/bin/sh
'''exec' "$(dirname -- "$0")/python" "$0" "$@"
'''
import sys

from sealdesk.cli import main

if __name__ == "__main__":
    sys.exit(main())
SCRIPT
chmod +x .venv/bin/sealdesk

# Written last: without this file, the next run starts over.
fingerprint "$mode" >.venv/.stamping
mv .venv/.stamping "$stamp"
say "ready after $(($(date +%s) - started)) s"
