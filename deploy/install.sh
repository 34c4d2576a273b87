#!/bin/sh
# Installs Sealdesk into a directory: deploy/install.sh DIRECTORY [bucket], such as /opt/sealdesk.
#
# Needs a checkout, and Python 3.11 or newer with venv. Installs the packages of requirements.lock,
# or with `bucket` those of requirements-bucket.lock, checked by hash, and builds only the documentation. Replaces an existing installation only when the new one is
# complete. A running service uses the new version after a restart.
set -eu

die() { printf 'install: %s\n' "$*" >&2; exit 1; }

target=${1-}
case $target in
    /*[!/]) ;;
    *) die "usage: deploy/install.sh DIRECTORY [bucket] (an absolute path)" ;;
esac
case ${2-} in
    '') lock=requirements.lock ;;
    bucket) lock=requirements-bucket.lock ;;
    *) die "usage: deploy/install.sh DIRECTORY [bucket]" ;;
esac
cd -- "$(dirname -- "$0")/.."

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/sealdesk/__init__.py)
digest=$(find src docs docs_builder clients tests/vectors "$lock" -type f ! -name '*.pyc' ! -name '*.msgpack' -print0 | sort -z |
    xargs -0 sha256sum | sha256sum | cut -c1-12)
release=$target/releases/$version-$digest
if [ -e "$release/whole" ]; then
    ln -sfn "$release" "$target/current"
    echo "install: $release is there already"
    exit
fi

# The final path: scripts and compiled files contain it.
rm -rf "$release"
mkdir -p "$release" "$target/bin"
python3 -Im venv "$release"
"$release/bin/python" -Im pip --no-input --disable-pip-version-check --no-cache-dir install \
    --quiet --no-deps --only-binary :all: --require-hashes -r "$lock"
site=$("$release/bin/python" -Ic 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -R src/sealdesk* "$site"
# A container is built without the repository, and names the commit.
printf '%s\n' "${COMMIT:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}" >"$site/sealdesk/commit"
# The documentation that the service serves at /docs.
"$release/bin/python" -B -m docs_builder "$site/sealdesk/web/documentation.msgpack"
# pip is not needed any more.
"$release/bin/python" -Im pip --no-input --disable-pip-version-check uninstall --quiet --yes \
    setuptools pip
find "$site"/sealdesk* -name __pycache__ -prune -exec rm -rf {} +
"$release/bin/python" -Im compileall -q "$site"
cat >"$release/bin/sealdesk" <<SCRIPT
#!$release/bin/python -I
import sys

from sealdesk.cli import main

if __name__ == "__main__":
    sys.exit(main())
SCRIPT
# Readable by all users, whatever the umask; writable only by root.
chmod -R u=rwX,go=rX "$target"
chmod 755 "$release/bin/sealdesk"
"$release/bin/sealdesk" --version >/dev/null
touch "$release/whole"
ln -sfn "$release" "$target/current"
ln -sfn ../current/bin/sealdesk "$target/bin/sealdesk"
echo "install: $release"
