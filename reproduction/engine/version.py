"""The version of the code that trains."""

from __future__ import annotations

# A run is current while its record bears this number. Raise it when the numbers of a run change, and only then: every
# finished run is then moved aside and made anew. tests/reproduction/engine/test_version.py notices
# when the code has changed.
VERSION = 1
