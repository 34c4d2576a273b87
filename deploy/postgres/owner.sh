#!/bin/sh
# Creates the role that owns the tables, and its database, as a superuser of PostgreSQL. Run it once.
# OWNER_PASSWORD is in the file postgres.env that deploy/secrets.sh creates.
#
# The owner may create roles, because `sealdesk migrate` creates those of the service, and databases,
# because `sealdesk restore --drill` restores into one of its own. It is not a superuser.
set -eu
cd /  # psql looks at the directory it is in, which may be closed to its user

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres <<'SQL'
\set password `printf %s "$OWNER_PASSWORD"`
CREATE ROLE sealdesk_owner LOGIN CREATEDB CREATEROLE PASSWORD :'password';
CREATE DATABASE sealdesk OWNER sealdesk_owner ENCODING 'UTF8' TEMPLATE template0;
SQL
