#!/usr/bin/env bash
# Builds the book, or what changed of it, and serves it: workflow/serve.sh [PORT], 8000 by default.
set -euo pipefail
cd "$(dirname "$0")/.."
make book
echo "Serving the book on port ${1:-8000}."
exec "${PYTHON:-python3}" -m http.server --directory _build/html "${1:-8000}"
