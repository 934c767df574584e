"""Runs the test modules that it is given; exit 77, ctest's SKIP_RETURN_CODE, and one line where a library is missing."""
import importlib.util
import os
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["POSGEOM_SOURCE"])
DOWNSTREAM = SOURCE / "jobs" / "downstream"
sys.path[:0] = [str(DOWNSTREAM), str(SOURCE / "tests" / "cli")]

if __name__ == "__main__":
    missing = [name for name in ("torch", "h5py", "numpy", "scipy", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {', '.join(missing)} (Debian: bash jobs/setup.sh --downstream)")
        sys.exit(77)
    sys.modules["case"] = sys.modules["__main__"]
    unittest.main(module=None, argv=[sys.argv[0], "-v", *sys.argv[1:]])
