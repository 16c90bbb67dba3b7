#!/usr/bin/env bash
# Installs what the project takes from Debian and is not there: Coq for `make proofs` (without it the verdicts rest on
# sympy), node for the tests of the book's script, LightGBM's libgomp, the default images, a browser that prints and tests the book, Java for the checker of its HTML.
set -euo pipefail
cd "$(dirname "$0")"
missing=()
while read -r package; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done < debian_packages.txt
[ ${#missing[@]} -eq 0 ] && exit 0
as_root=$([ "$(id -u)" = 0 ] || echo sudo)
if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
  echo "Not installed, as that takes root or sudo: ${missing[*]}. Without them some tests are skipped, and make browser fails." >&2
  exit 0
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
