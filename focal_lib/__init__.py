"""focal_lib: focal loss and calibration, each formula written once and checked."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("focal-lib")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
