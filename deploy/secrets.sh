#!/bin/sh
# Creates the settings that contain secrets: deploy/secrets.sh DIRECTORY [POSTGRES_HOST [REDIS_URL]]
#
#   sealdesk.env   for `sealdesk serve`: its role in PostgreSQL, the keys
#   worker.env     for `sealdesk worker`: its own role, the keys
#   owner.env      for commands such as `sealdesk migrate` and `backup`: the role that owns the tables
#   postgres.env   for deploy/postgres/owner.sh, which creates that role, and for the image of PostgreSQL
#
# Generates random secrets, and refuses to replace existing files. Back up sealdesk.env: without its
# SEALDESK_MASTER_KEY, no API secret can be opened again.
set -eu
umask 077

directory=${1:?usage: deploy/secrets.sh DIRECTORY [POSTGRES_HOST [REDIS_URL]]}
host=${2:-127.0.0.1:5432}
redis=${3:-redis://127.0.0.1:6379/0}

for name in sealdesk worker owner postgres; do
    if [ -e "$directory/$name.env" ]; then
        echo "secrets: $directory/$name.env is there already; it is left as it is" >&2
        exit 1
    fi
done
mkdir -p "$directory"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
key() { head -c 32 /dev/urandom | base64; }

url() { echo "postgresql://$1:$2@$host/sealdesk"; }
runtime=$(url sealdesk "$(random)")
worker=$(url sealdesk_worker "$(random)")
owner_password=$(random)
keys="SEALDESK_MASTER_KEY=$(key)
SEALDESK_JWT_SECRET=$(key)"

cat >"$directory/sealdesk.env" <<ENV
SEALDESK_DATABASE_URL=$runtime
SEALDESK_REDIS_URL=$redis
$keys
SEALDESK_METRICS_TOKEN=$(random)
ENV
cat >"$directory/worker.env" <<ENV
SEALDESK_DATABASE_URL=$runtime
SEALDESK_WORKER_DATABASE_URL=$worker
$keys
ENV
cat >"$directory/owner.env" <<ENV
SEALDESK_OWNER_DATABASE_URL=$(url sealdesk_owner "$owner_password")
SEALDESK_DATABASE_URL=$runtime
SEALDESK_WORKER_DATABASE_URL=$worker
ENV
cat >"$directory/postgres.env" <<ENV
OWNER_PASSWORD=$owner_password
POSTGRES_PASSWORD=$(random)
ENV
echo "secrets: made sealdesk.env, worker.env, owner.env and postgres.env in $directory"
