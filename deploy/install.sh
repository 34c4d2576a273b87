#!/bin/sh
# Installs Sealdesk for itself: deploy/install.sh DIRECTORY, such as /opt/sealdesk.
#
# From a checkout and Python 3.11 or newer with venv. The packages come from requirements.lock, each
# checked against its hash; nothing is built. An installation that is there already is replaced only
# when the new one is whole, and a running one notices nothing until it is restarted.
set -eu

die() { printf 'install: %s\n' "$*" >&2; exit 1; }

target=${1-}
case $target in
    /*[!/]) ;;
    *) die "usage: deploy/install.sh DIRECTORY (an absolute path)" ;;
esac
cd -- "$(dirname -- "$0")/.."

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/sealdesk/__init__.py)
digest=$(find src requirements.lock -type f ! -name '*.pyc' -print0 | sort -z |
    xargs -0 sha256sum | sha256sum | cut -c1-12)
release=$target/releases/$version-$digest
if [ -e "$release/whole" ]; then
    ln -sfn "$release" "$target/current"
    echo "install: $release is there already"
    exit
fi

# Where it will stay: scripts and compiled files hold the path.
rm -rf "$release"
mkdir -p "$release" "$target/bin"
python3 -Im venv "$release"
"$release/bin/python" -Im pip --no-input --disable-pip-version-check --no-cache-dir install \
    --quiet --no-deps --only-binary :all: --require-hashes -r requirements.lock
site=$("$release/bin/python" -Ic 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -R src/sealdesk "$site/sealdesk"
# Nothing is ever installed into it again.
"$release/bin/python" -Im pip --no-input --disable-pip-version-check uninstall --quiet --yes \
    setuptools pip
find "$site/sealdesk" -name __pycache__ -prune -exec rm -rf {} +
"$release/bin/python" -Im compileall -q "$site"
cat >"$release/bin/sealdesk" <<SCRIPT
#!$release/bin/python -I
import sys

from sealdesk.cli import main

if __name__ == "__main__":
    sys.exit(main())
SCRIPT
# Readable for everybody whatever the umask; written by nobody but root.
chmod -R u=rwX,go=rX "$target"
chmod 755 "$release/bin/sealdesk"
"$release/bin/sealdesk" --version >/dev/null
touch "$release/whole"
ln -sfn "$release" "$target/current"
ln -sfn ../current/bin/sealdesk "$target/bin/sealdesk"
echo "install: $release"
