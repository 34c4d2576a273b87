#!/bin/sh
# Makes src/sealdesk/web/static/fonts/inter.woff2 from the variable font of the npm package inter-ui.
#
#   scripts/subset-inter.sh InterVariable.woff2
#
# Needs fonttools and brotli. Kept: the weights 400 to 650, Latin letters of European languages,
# and the signs that pages use. 30 KiB, of 344 (inter-ui 4.1.1, fonttools 4.68, 2026-11-22).
set -eu

whole=$(mktemp --suffix=.ttf)
trap 'rm -f "$whole"' EXIT
fonttools varLib.instancer "$1" wght=400:650 opsz=14 -o "$whole"
pyftsubset "$whole" --flavor=woff2 \
  --output-file="$(dirname -- "$0")/../src/sealdesk/web/static/fonts/inter.woff2" \
  --layout-features=kern,liga,calt,tnum,ccmp,locl,mark,mkmk \
  --unicodes=U+0020-007E,U+00A0-017F,U+0218-021B,U+02C6,U+02DA,U+02DC,U+2010-2015,U+2018-201E,U+2020-2022,U+2026,U+202F,U+2030,U+2039,U+203A,U+20AC,U+2122,U+2190-2193,U+2212,U+2318
