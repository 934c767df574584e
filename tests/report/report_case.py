"""What the tests of the report share: small runs that are made once, and skipping where a library is missing."""
import importlib.util
import lzma
import random
import shutil
import sys
import unittest

from harness import DATA, Case

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
DIMS = "1,2,3,4,8,16"


def need(*modules):
    """Ends the program with 77, and says why, where a module is missing."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {sys.executable} has no module {module} (Debian: python3-{module})")
            sys.exit(SKIPPED)


def main():
    """unittest's, but for the exit code where everything was skipped."""
    done = unittest.main(exit=False).result
    if done.testsRun and len(done.skipped) == done.testsRun:
        print("skipped: " + "; ".join(sorted({reason for _, reason in done.skipped})))
        sys.exit(SKIPPED)
    sys.exit(not done.wasSuccessful())


def verses(count, seed=None):
    """Verses of the King James text, each with its words shuffled where a seed is given."""
    with lzma.open(DATA / "kjv.txt.xz", "rt") as f:
        lines = [next(f).split() for _ in range(count)]
    if seed is not None:
        draw = random.Random(seed)
        for words in lines:
            draw.shuffle(words)
    return "\n".join(" ".join(words) for words in lines) + "\n"


class ReportCase(Case):
    """Runs are made once for a class, in cls.shared; a test that changes one works on a copy."""

    shared = None

    @classmethod
    def make(cls, case):
        """Overridden: makes runs by case.succeed() in case.folder."""

    @classmethod
    def setUpClass(cls):
        maker = Case()
        maker.setUp()
        cls.addClassCleanup(shutil.rmtree, maker.folder, ignore_errors=True)
        cls.shared = maker.folder
        cls.make(maker)

    def copy(self, name="out"):
        """A run of the class, anew."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return shutil.copytree(self.shared / name, self.folder / name)
