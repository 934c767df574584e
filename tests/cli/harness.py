"""Runs posgeom as a user would. The test environment (POSGEOM, MPIEXEC, POSGEOM_SOURCE) comes from ctest."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

POSGEOM = os.environ["POSGEOM"]
MPIEXEC = os.environ["MPIEXEC"]
SOURCE = Path(os.environ["POSGEOM_SOURCE"])
DATA = SOURCE / "tests" / "data"


def command(arguments, ranks=1):
    """A command line; without the noise analysis, which is the default but not what most tests look at, where none is named."""
    launcher = [MPIEXEC, "-np", str(ranks)] if ranks > 1 else []
    words = [str(argument) for argument in arguments]
    if words and words[0] in ("run", "count", "embed", "stress") and not {"--noise", "--preset", "--config", "--help"} & set(words):
        words += ["--noise", "none"]
    return launcher + [POSGEOM] + words


class Case(unittest.TestCase):
    """A test with a folder of its own and helpers to run posgeom in it."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="posgeom-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def posgeom(self, *arguments, ranks=1, environment=None, timeout=120):
        """The finished process; its working directory is the test's folder."""
        return subprocess.run(command(arguments, ranks), cwd=self.folder, env={**os.environ, **(environment or {})}, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def succeed(self, *arguments, **options):
        done = self.posgeom(*arguments, **options)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def error_line(self, *arguments, code=1, ranks=1, **options):
        """The one error line of a run that must fail with `code`, and leave no half-written file."""
        done = self.posgeom(*arguments, ranks=ranks, **options)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        lines = [line for line in done.stderr.splitlines() if line.startswith("posgeom: error: ")]
        self.assertEqual(len(lines), 1, f"{arguments}: {done.stderr}")
        if ranks == 1:
            self.assertEqual(done.stderr.strip(), lines[0])
        self.assertEqual(list(self.folder.rglob("*.partial")), [])
        return lines[0]
