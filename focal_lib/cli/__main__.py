"""python -m focal_lib.cli is the `focal` command."""

from focal_lib.cli import main

main()
