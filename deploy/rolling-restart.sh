#!/bin/sh
# Restarts instances of the service one after the other: deploy/rolling-restart.sh 8001 8002
#
# Restarts the next instance when the previous one is ready and HAProxy has had time to detect that, so
# that one instance always serves. Stops at the first instance that does not become ready.
set -eu

[ $# -gt 0 ] || { echo "usage: deploy/rolling-restart.sh PORT…" >&2; exit 2; }

# Succeeds if the instance at this port is ready.
is_ready() {
    python3 -c '
import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/readyz", timeout=2)' "$1" 2>/dev/null
}

for port in "$@"; do
    systemctl restart "sealdesk@$port.service"
    waited=0
    until is_ready "$port"; do
        waited=$((waited + 1))
        if [ "$waited" -gt 60 ]; then
            echo "sealdesk@$port is not ready after 60 s: journalctl -u sealdesk@$port" >&2
            exit 1
        fi
        sleep 1
    done
    sleep 3
    echo "sealdesk@$port is ready"
done
