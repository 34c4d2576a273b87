#!/bin/sh
# Installs Debian packages for the tests, as root, and starts none of the servers they bring: now
# nor at the next boot. Servers that the machine already has keep running as they are.
#
#   install.sh LOG SERVER…      SERVER: postgres redis pgbouncer haproxy nginx chromium
#
# apt's status lines come out on the standard output, everything else goes into LOG.
set -eu

log=$1
shift

# Runs side by side would remove each other's policy.
exec 9>/run/lock/sealdesk-tests
flock 9

policy=/usr/sbin/policy-rc.d
clusters=/etc/postgresql-common/createcluster.d
cluster=$clusters/sealdesk-tests.conf
had_policy=
[ ! -e "$policy" ] || had_policy=yes
clean_up() {
    rm -f "$cluster"
    rmdir --ignore-fail-on-non-empty -p "$clusters" 2>/dev/null || :
    [ -n "$had_policy" ] || rm -f "$policy"
}
trap clean_up EXIT
trap 'exit 130' HUP INT TERM
[ -n "$had_policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"; }
# Else postgresql-common makes a cluster of its own, on port 5432.
mkdir -p "$clusters"
echo 'create_main_cluster = false' >"$cluster"

export DEBIAN_FRONTEND=noninteractive
apt() {
    apt-get -y -q --no-install-recommends -o APT::Status-Fd=3 -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Options::=--force-confold "$@" 3>&1 >>"$log" 2>&1 9>&-
}
# Lists that are old or in part out of reach may do; if not, the next step says so.
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
        *) packages="$packages $server" ;;
    esac
done
# shellcheck disable=SC2086 # one word a package
apt install $packages

for package in $packages; do
    # PostgreSQL's unit starts clusters that are there, and this made none.
    [ "$package" = postgresql ] || systemctl disable -q "$package" >>"$log" 2>&1 || :
done
