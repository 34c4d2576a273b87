#!/bin/sh
# Installs Debian packages for the tests, as root, and starts none of the servers they bring: not
# now, and not at the next boot. Servers that already run on the machine keep running.
#
#   install.sh LOG SERVER…      SERVER: postgres redis pgbouncer haproxy nginx varnish dovecot postfix
#                               chromium php ruby go java
#
# apt's status lines come out on the standard output, everything else goes into LOG.
#
# Packages start their servers by commands that they find on the PATH. dpkg gets a PATH that begins
# with commands that start nothing, in a temporary directory: nothing on the machine is changed for
# the time of the installation, so nothing is left behind when this is killed.
set -eu

log=$1
shift

shims=$(mktemp -d)
trap 'rm -rf "$shims"' EXIT
trap 'exit 130' HUP INT TERM
shim() {
    printf '#!/bin/sh\n%s\n' "$2" >"$shims/$1"
    chmod 755 "$shims/$1"
}
chmod 755 "$shims"
shim invoke-rc.d 'exit 0'
shim deb-systemd-invoke 'exit 0'
# Else postgresql-common makes a cluster of its own, on port 5432.
shim pg_createcluster 'exit 0'
# A unit that was not enabled before stays disabled.
shim deb-systemd-helper 'case "$*" in *was-enabled*) exit 1 ;; esac
exec /usr/bin/deb-systemd-helper "$@"'
shim update-rc.d '[ "${2-}" != defaults ] || set -- "$1" defaults-disabled
exec /usr/sbin/update-rc.d "$@"'

export DEBIAN_FRONTEND=noninteractive
apt() {
    apt-get -y -q --no-install-recommends -o APT::Status-Fd=3 -o DPkg::Lock::Timeout=300 \
        -o DPkg::Path="$shims:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        -o Dpkg::Options::=--force-confold "$@" 3>&1 >>"$log" 2>&1
}
# Outdated package lists may do; if not, the next step says so.
apt update || :

packages=
for server in "$@"; do
    case $server in
        postgres) packages="$packages postgresql" ;;
        redis)
            # Newer releases may have Valkey alone.
            if apt-cache show redis-server >/dev/null 2>&1; then
                packages="$packages redis-server"
            else
                packages="$packages valkey-server"
            fi ;;
        chromium)
            # Older releases have the whole browser alone.
            if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
                packages="$packages chromium-headless-shell"
            else
                packages="$packages chromium"
            fi ;;
        dovecot) packages="$packages dovecot-imapd" ;;
        php) packages="$packages php-cli php-curl" ;;
        go) packages="$packages golang-go" ;;
        java) packages="$packages default-jdk-headless" ;;
        *) packages="$packages $server" ;;
    esac
done
# shellcheck disable=SC2086 # one word a package
apt install $packages
