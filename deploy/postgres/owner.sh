#!/bin/sh
# Makes the role that owns the tables and its database, as a superuser of PostgreSQL; once.
# OWNER_PASSWORD comes from the postgres.env that deploy/secrets.sh made.
#
# The owner may make roles, since `sealdesk migrate` makes the ones that serve; it is no superuser.
set -eu
cd /  # psql looks at the directory it is in, which may be closed to its user

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres <<'SQL'
\set password `printf %s "$OWNER_PASSWORD"`
CREATE ROLE sealdesk_owner LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE sealdesk OWNER sealdesk_owner ENCODING 'UTF8' TEMPLATE template0;
SQL
