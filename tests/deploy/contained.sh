#!/bin/sh
# Runs a command as a container of deploy/compose.yaml would: root's file system is read-only, the volume
# DATA is at /var/lib/sealdesk, /tmp is empty and small, and root can do no more than its files allow.
#
#   unshare --mount contained.sh DATA CHECKOUT COMMAND…
#
# CHECKOUT stays visible where it is below /tmp.
set -eu

data=$1 checkout=$2
shift 2
exec 8<"$data" 9<"$checkout"
mount -t tmpfs -o mode=755 tmpfs /var/lib
mkdir /var/lib/sealdesk
mount --no-canonicalize --bind /proc/self/fd/8 /var/lib/sealdesk
mount -o remount,bind,ro /
mount -t tmpfs -o size=64m,mode=1777 tmpfs /tmp
if ! [ -e "$checkout" ]; then
    mkdir -p "$checkout"
    mount --no-canonicalize --bind /proc/self/fd/9 "$checkout"
fi
exec 8<&- 9<&-
cd /var/lib/sealdesk
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
