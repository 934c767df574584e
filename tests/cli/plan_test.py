"""posgeom plan says and refuses what run does, names every option that it heeds, and fits its jobs to what it is told."""
import io
import itertools
import lzma
import random
import re
import subprocess
import unittest

import numpy as np

from harness import DATA, POSGEOM, Case

KJV = ("--corpus", DATA / "kjv.txt.xz", "--lengths", "32")


def instrumented():
    """Whether sanitizers, whose own memory is no part of a plan, are linked in."""
    return b"libasan" in subprocess.run(["ldd", POSGEOM], capture_output=True).stdout


class SameRefusals(Case):
    def test_what_run_refuses_plan_refuses_in_the_same_words(self):
        self.write("corpus.txt", "a b c d e\nb c a\n")
        self.write("table.tsv", "label\ttext\n1\ta b c\n")
        self.write("ids.bin", b"\x01\x00\x02\x00\x03\x00")
        self.write("vocab.txt", "[PAD]\n[UNK]\na\nb\n")
        self.write("empty.txt", "\n\n")
        self.write("many.txt", "\n".join(" ".join(f"w{k}" for k in range(b, b + 500)) for b in range(0, 20500, 500)))
        text = ("--corpus", "corpus.txt", "--lengths", "3")
        ids = ("--corpus", "ids.bin", "--format", "raw16", "--lengths", "2")
        many = ("--corpus", "many.txt", "--sequences", "packed")
        words = (*text, "--tokenizer", "wordpiece", "--vocab", "vocab.txt")
        table = (
            (text, ("--solver", "lapack"), 2, "it works on one rank"),
            (text, ("--grid", "3x5"), 2, "--grid"),
            (text, ("--vocab-size", "4"), 1, "--vocab-size 4 is less than the 5 entries"),
            (words, ("--vocab-size", "3"), 1, "--vocab-size 3 is less than the 4 entries"),
            (text, ("--ignore-ids", "5"), 1, "--ignore-ids 5"),
            (text, ("--noise", "none", "--encodings", "mds,signal"), 1, "signal"),
            (text, ("--encodings", "mds,other=file:none.npy"), 1, "none.npy"),
            (text, ("--encodings", "mds,mds"), 1, "each name once"),
            (text, ("--bootstrap", "39", "--rarefy-geometry", "2"), 1, "--bootstrap"),
            (text, ("--replicates", "3"), 1, "--replicates"),
            (text, ("--split-by", "column:text"), 1, "--split-by"),
            (text, ("--noise", "split", "--split-by", "column:text"), 1, "--split-by column"),
            (text, ("--last-block", "drop"), 1, "--last-block"),
            (text[:2], ("--sequences", "packed", "--last-block", "drop", "--lengths", "9"), 1, "--last-block drop"),
            (text, ("--tokenizer", "wordpiece"), 1, "--vocab"),
            (text, ("--solver", "gauss"), 1, "--solver"),
            (text, ("--column", "text"), 1, ""),
            (text, ("--memory", "12X"), 1, "--memory"),
            (ids, (), 1, "--vocab-size"),
            (ids, ("--vocab-size", "9", "--tokenizer", "chars"), 1, "--tokenizer"),
            (ids, ("--vocab-size", "9", "--separator", "-4"), 1, "--separator"),
            (("--corpus", "table.tsv", "--lengths", "3"), ("--format", "tsv", "--header", "--column", "body"), 1, "body"),
            (("--corpus", "missing.txt", "--lengths", "3"), (), 1, "missing.txt"),
            (("--corpus", "empty.txt", "--lengths", "3"), (), 1, "holds no token"),
            ((*many, "--lengths", "500"), ("--solver", "dual"), 1, "--solver dual"),
            ((*many, "--lengths", "1100"), ("--solver", "krylov", "--components", "1050"), 1, "--solver krylov"),
            (text, ("stray",), 1, "stray"),
        )
        for base, options, ranks, word in table:
            with self.subTest(options=options, base=base):
                words = (*base, *options, "--out", "out", *(() if "--noise" in options else ("--noise", "none")))
                ran = self.posgeom("run", *words, ranks=ranks)
                planned = self.posgeom("plan", *words, "--ranks", ranks)
                lines = [line for done in (ran, planned) for line in done.stderr.splitlines() if line.startswith("posgeom: error: ")]
                self.assertEqual(len(lines), 2, (ran, planned))
                self.assertIn(word, lines[0])
                self.assertEqual(lines[0], lines[1])
                self.assertNotEqual(planned.returncode, 0)
                self.assertEqual(planned.returncode, ran.returncode)

    def test_a_table_of_too_few_rows(self):
        self.write("corpus.txt", "a b c d e\nb c a\n")
        self.write("short.npy", npy([[0.0, 1.0]] * 2))
        for options in ((), ("--unreached", "uniform", "--lengths", "9")):
            arguments = ("--corpus", "corpus.txt", "--lengths", "4", "--encodings", "mds,t=file:short.npy")
            if options:
                arguments = ("--corpus", "corpus.txt", "--encodings", "mds,t=file:short.npy", *options)
            run = self.posgeom("run", *arguments, "--out", "out")
            plan = self.posgeom("plan", *arguments)
            self.assertIn("has 2 rows", run.stderr)
            self.assertEqual((plan.stderr, plan.returncode), (run.stderr, run.returncode))

    def test_what_is_finished_needs_no_solver(self):
        arguments = (*KJV, "--noise", "none", "--dims", "1", "--encodings", "mds", "--solver", "lapack", "--out", "out")
        self.succeed("run", *arguments)
        self.succeed("run", *arguments, ranks=2)
        self.succeed("plan", *arguments, "--ranks", "2")


class Memory(Case):
    def test_plan_and_run_mean_the_same_by_memory(self):
        """What embed needs to the byte is found by asking; run is then given a little more and a little less."""
        arguments = (*KJV, "--noise", "none", "--dims", "1,2,4", "--encodings", "mds,random")

        def fits(bytes_):
            text = self.succeed("plan", *arguments, "--memory", bytes_)
            return all("does not fit" not in line and "needs " not in line for line in text.splitlines() if line.startswith("n=")), text
        low, high = 1 << 20, 1 << 30
        while high - low > 1 << 14:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle)[0] else (middle, high)
        self.assertLess(high, 40 << 20)  # the program's own 48 MiB are no part of it
        self.assertIn("MiB each beside the program's own 48 (--memory)", fits(high)[1])
        # run knows the counts exactly, plan by expectation: within a tenth.
        rounded = self.error_line("run", *arguments, "--memory", high - high // 3, "--out", "other")
        takes, allowed = map(int, re.search(r"takes (\d+) MiB .*more than the (\d+) MiB", rounded).groups())
        self.assertGreater(takes, allowed)
        self.assertEqual(allowed, (high - high // 3) >> 20)
        self.succeed("run", *arguments, "--memory", high + high // 10, "--out", "out")
        self.assertIn("--memory allows", self.error_line("run", *arguments, "--memory", high - high // 3, "--out", "out", "--force"))

    def test_run_takes_the_columns_that_the_counts_have(self):
        """A bound of them by the number of counts was several times too large where many positions hold few tokens each."""
        for k, options in enumerate(((), ("--unreached", "uniform"), ("--sequences", "packed"))):
            with self.subTest(options):
                arguments = (*KJV[:2], "--lengths", "256", "--noise", "none", "--dims", "1,8", "--encodings", "mds", "--threads", "1", *options)
                text = self.succeed("plan", *arguments, "--memory", "1G")
                planned = max(int(mib) for mib in re.findall(r"(?:embed|stress) (\d+) MiB", text)) - 48
                self.succeed("count", *arguments, "--out", f"out{k}")
                self.succeed("run", *arguments, "--memory", f"{planned + 1}M", "--out", f"out{k}")
                line = self.error_line("run", *arguments, "--memory", "4M", "--out", f"out{k}", "--force")
                self.assertLessEqual(int(re.search(r"takes (\d+) MiB", line)[1]), planned + 1)

    @unittest.skipIf(instrumented(), "sanitizers have memory of their own")
    def test_counts_are_written_beside_their_rows(self):
        draw = np.random.default_rng(1)
        draw.integers(0, 50000, 20000000).astype("<u2").tofile(self.folder / "ids.bin")
        arguments = ("--corpus", "ids.bin", "--format", "raw16", "--vocab-size", "50000", "--separator", "none", "--sequences", "packed",
                     "--lengths", "2048", "--noise", "split")
        planned = int(re.search(r"^count, .*: (\d+) MiB, ", self.succeed("plan", *arguments, "--memory", "4G"), re.M)[1])
        peak = int(re.search(r"peak memory (\d+) MiB", self.succeed("count", *arguments, "--memory", "4G", "--out", "out"))[1])
        self.assertLess(abs(planned - peak), 0.1 * peak, f"{planned} MiB planned, {peak} measured")

    def test_what_fits_is_within_the_limit(self):
        """The writing of the counts was in the figure and not in the judgement."""
        base = ("plan", "--tokens", "300000000000", "--vocab-size", "50257", "--lengths", "2048,131072")
        for memory, ranks in ((21695, 15), (4000, 77), (4000, 90), (400, 1000)):
            with self.subTest(memory=memory, ranks=ranks):
                text = self.succeed(*base, "--memory", f"{memory}M", "--ranks", ranks)
                mib, verdict = re.search(r"^count, .*: (\d+) MiB, [^:]*: (.*)", text, re.M).groups()
                self.assertRegex(verdict, r"^(fits|needs \d+ ranks: the smallest count that fits)")
                self.assertLessEqual(int(mib), memory + 48)

    def test_counting_that_takes_all_memory_says_so(self):
        base = ("plan", "--tokens", "300000000000", "--vocab-size", "50257", "--lengths", "2048,131072")

        def count(memory, ranks):
            return re.search(r"^count, .*", self.succeed(*base, "--memory", memory, "--ranks", ranks), re.M)[0]
        first = int(re.search(r": (\d+) MiB, .*: needs (\d+) ranks", count("21695M", 2))[2])
        for ranks in (first, first + 1):
            self.assertRegex(count("21695M", ranks), rf": 21743 MiB, .*: fits, in as much as --memory allows; smallest rank count that does: {first}$")
        self.assertIn(f"needs {first} ranks", count("21695M", first - 1))
        self.assertNotIn("as much as", count("1T", 2))

    def test_counting_within_a_limit_fits(self):
        text = self.succeed("plan", "--tokens", "1000000000", "--vocab-size", "50000", "--sequences", "packed", "--lengths", "4096",
                            "--ranks", "64", "--memory", "100M", "--noise", "none")
        self.assertRegex(text, r"count, packed sequences: 1\d\d MiB, .*: fits")

    @unittest.skipIf(instrumented(), "sanitizers have memory of their own")
    def test_the_noise_analysis_of_a_large_vocabulary(self):
        draw = random.Random(1)
        weights = list(itertools.accumulate(1 / (k + 3) for k in range(30000)))
        ids = draw.choices(range(30000), cum_weights=weights, k=2000000)
        self.write("ids.bin", b"".join(token.to_bytes(2, "little") for token in ids))
        arguments = ("--corpus", "ids.bin", "--format", "raw16", "--vocab-size", "30000", "--separator", "9", "--sequences", "packed",
                     "--lengths", "512", "--noise", "all", "--replicates", "19", "--dims", "1,16", "--encodings", "mds", "--threads", "1", "--memory", "4G")
        (line,) = re.findall(r"^n=512 .*", self.succeed("plan", *arguments), re.M)
        planned = dict(re.findall(r"(\w+) (\d+) MiB", line))
        self.succeed("count", *arguments, "--out", "out")
        ballast = bytearray(b"x") * (400 << 20)  # whoever starts a program has no part in its memory
        for stage in ("embed", "stress"):
            peak = int(re.search(r"peak memory (\d+) MiB", self.succeed(stage, *arguments, "--out", "out"))[1])
            self.assertTrue(ballast)
            self.assertLess(abs(int(planned[stage]) - peak), 0.15 * peak, f"{stage}: {planned[stage]} MiB planned, {peak} measured")


def npy(rows):
    out = io.BytesIO()
    np.save(out, np.array(rows))
    return out.getvalue()


class WithoutACorpus(Case):
    def test_tokens_and_vocabulary_suffice(self):
        text = self.succeed("plan", "--tokens", "20000000", "--vocab-size", "50257", "--lengths", "64", "--noise", "none")
        self.assertIn("vocabulary 50257, tokens 20000000 (--tokens)", text)
        self.assertIn("upper bounds: how often tokens repeat is not known", text)
        self.write("vocab.txt", "[PAD]\n[UNK]\na\nb\n")
        text = self.succeed("plan", "--tokens", "100", "--lengths", "8", "--tokenizer", "wordpiece", "--vocab", "vocab.txt")
        self.assertIn("vocabulary 4, tokens 100", text)
        self.assertIn("--vocab-size", self.error_line("plan", "--tokens", "100", "--lengths", "8", code=2))
        self.assertIn("--documents", self.error_line("plan", "--documents", "9", "--vocab-size", "9", "--lengths", "8", code=2))

    def test_more_tokens_take_more(self):
        def embed(*options):
            (line,) = re.findall(r"^n=512 .*", self.succeed("plan", "--vocab-size", "50257", "--lengths", "512", "--noise", "none", *options), re.M)
            return int(re.search(r"embed (\d+) MiB", line)[1])
        few, many, unknown = embed("--tokens", "100000"), embed("--tokens", "10000000"), embed()
        self.assertLess(few, many)
        self.assertLess(many, unknown)
        self.assertLess(embed("--tokens", "10000000", "--documents", "1000"), many)

    def test_a_sample_stands_for_the_corpus(self):
        text = self.succeed("plan", *KJV, "--tokens", "50000000", "--noise", "none")
        self.assertRegex(text, r"vocabulary \d+ \(from a sample\), tokens 50000000 \(--tokens\)")
        self.assertNotIn("upper bounds: how often", text)
        more, alone = (int(re.search(r"embed (\d+) MiB", said)[1]) for said in (text, self.succeed("plan", *KJV, "--noise", "none")))
        self.assertGreater(more, alone)

    def test_what_is_not_known_is_said_where_it_matters(self):
        text = self.succeed("plan", "--vocab-size", "30000", "--lengths", "8192", "--memory", "256M", "--noise", "none")
        self.assertRegex(text, r"n=8192 .* no rank count does: the counts are taken as dense, .* --tokens tells")
        text = self.succeed("plan", "--vocab-size", "19000", "--tokens", "1000000", "--lengths", "8192", "--memory", "1G", "--noise", "none",
                            "--solver", "dual")
        self.assertRegex(text, r"n=8192 .* no rank count does: fewer ranks a node, each with more --memory \(\d+ MiB would do\); "
                               r"or with --solver auto and fewer .*--dims.* it would fit")

    def test_a_compressed_sample_is_not_read_ahead_of(self):
        draw = random.Random(2)
        documents = [" ".join(str(draw.randrange(100000)) for _ in range(100)) for _ in range(60000)]
        self.write("text.txt.xz", lzma.compress("\n".join(documents).encode(), preset=1))
        (estimate,) = re.findall(r"tokens (\d+) \(from a sample\)", self.succeed("plan", "--corpus", "text.txt.xz", "--lengths", "32"))
        self.assertLess(abs(int(estimate) - 6000000), 0.03 * 6000000)


class Jobs(Case):
    PLAN = ("plan", "--tokens", "100000000", "--vocab-size", "30000", "--sequences", "packed", "--lengths", "32,512", "--ranks", "16",
            "--noise", "none")

    def lines(self, *options):
        text = self.succeed(*self.PLAN, *options)
        return dict(re.findall(r"^slurm (\w+(?: \d+)?) (--ntasks.*)", text, re.M)), text

    def test_ranks_of_a_node(self):
        lines, text = self.lines("--ranks-per-node", "4", "--memory", "8G")
        self.assertIn("plan for 16 ranks on 4 nodes, 1 thread a rank, 8192 MiB each", text)
        for job in ("count", "embed 512", "stress 512", "run"):
            self.assertRegex(lines[job], r"--ntasks=16 --nodes=4 --ntasks-per-node=4 ")
        for job in ("embed 32", "stress 32", "collect"):
            self.assertRegex(lines[job], r"--ntasks=1 --cpus-per-task=")
        lines, text = self.lines("--memory", "8G")
        self.assertIn("plan for 16 ranks, 1 thread a rank, 8192 MiB each", text)
        self.assertNotIn("--nodes", "".join(lines.values()))

    def test_memory_follows_the_ranks_of_a_node(self):
        each = {}
        for ranks_per_node in ("1", "4", "16"):
            _, text = self.lines("--ranks-per-node", ranks_per_node)
            each[ranks_per_node] = int(re.search(r", (\d+) MiB each", text)[1])
            self.assertNotIn("all on this node", text)
        self.assertAlmostEqual(each["1"] / each["4"], 4, delta=0.1)
        self.assertAlmostEqual(each["4"] / each["16"], 4, delta=0.1)
        self.assertIn("all on this node", self.lines()[1])

    def test_jobs_ask_for_no_more_than_a_rank_may_have(self):
        def memory(*options):
            lines, text = self.lines(*options)
            return {job: int(re.search(r"--mem-per-cpu=(\d+)M", line)[1]) for job, line in lines.items()}, text
        plenty, text = memory("--memory", "4000M", "--ranks-per-node", "64")
        embed = int(re.search(r"n=512 +embed (\d+) MiB", text)[1])
        self.assertGreater(plenty["embed 512"], 1.2 * embed)  # there is room
        for limit in (embed - 48 + 1, embed - 48 + 30):
            asked, text = memory("--memory", f"{limit}M", "--ranks-per-node", "64")
            self.assertRegex(text, r"n=512 .*: fits")
            self.assertEqual(asked["embed 512"], limit + 48)
            self.assertLessEqual(max(asked[job] for job in asked if job != "collect"), limit + 48)
        _, text = memory("--memory", "4000M", "--threads", "4")
        most = max(map(int, re.findall(r"n=512 .*(?:embed|stress) (\d+) MiB", text))) + 2
        threads, _ = memory("--memory", f"{most - 48}M", "--threads", "4")
        self.assertLessEqual(4 * threads["embed 512"], most)

    def test_more_memory_for_fewer_ranks_comes_first(self):
        base = ("plan", "--tokens", "300000000000", "--vocab-size", "50257", "--sequences", "packed", "--lengths", "2048", "--ranks", "128")
        text = self.succeed(*base, "--ranks-per-node", "64", "--memory", "4000M")
        found = re.search(r"no rank count does: fewer ranks a node, each with more --memory \((\d+) a node: (\d+) MiB would do\); "
                          r"or with --noise none .* it would fit", text)
        self.assertTrue(found, text)
        each, mib = map(int, found.groups())
        self.assertLessEqual(each * (mib + 48), 64 * (4000 + 48))  # such nodes have it
        for memory, fits in ((mib, True), (mib - 1, False)):
            again = self.succeed(*base, "--ranks-per-node", each, "--memory", f"{memory}M")
            self.assertEqual("no rank count does" not in again, fits, again)

    def test_a_figure_with_more_memory(self):
        base = ("plan", *KJV, "--noise", "none", "--ranks", "4")
        text = self.succeed(*base, "--memory", "1M")
        count, embed = re.findall(r"more --memory \((\d+) MiB would do\)", text)
        self.assertIn("no rank count does", self.succeed(*base, "--memory", f"{int(embed) - 1}M"))
        self.assertNotIn("no rank count does", self.succeed(*base, "--memory", f"{max(int(embed), int(count))}M"))
        self.assertRegex(self.succeed(*base, "--memory", f"{int(count) - 1}M"), r"count.*no rank count does")
        self.assertNotRegex(self.succeed(*base, "--memory", f"{count}M"), r"count.*no rank count does")

    def test_few_positions_get_few_ranks(self):
        lines, text = self.lines("--memory", "8G")
        self.assertIn("; 1 rank suffices for so few positions", text)
        self.assertRegex(lines["run"], r"--ntasks=16 ")
        self.assertRegex(lines["embed 512"], r"--ntasks=16 ")
        self.assertRegex(lines["embed 32"], r"--ntasks=1 ")


class Options(Case):
    """--help of plan names the options that it heeds, those that it takes without effect, and no others."""

    def setUp(self):
        super().setUp()
        self.write("table.tsv", "label\ttext\tmore\n" + "".join(f"{k % 3}\tw{k % 7} w{k % 11} w{k % 50} w{k}\tx y\n" for k in range(300)))
        self.write("vocab.txt", "[PAD]\n[UNK]\nw\n" + "".join(f"##{k}\n" for k in range(10)))
        self.write("words.txt", "w1\nw2\n[UNK]\n")
        self.write("ids.bin", b"".join((k * k % 97).to_bytes(2, "little") for k in range(5000)))
        self.write("wide.bin", b"".join((k * k % 1997).to_bytes(2, "little") for k in range(900000)))
        self.write("other.txt", "a b\n" * 50)

    def output(self, options, command="plan"):
        done = self.posgeom(command, *(f"--{name}={value}" for name, value in options.items()))
        return done.returncode, done.stdout, done.stderr

    COMMON = {"ranks": "4", "noise": "none"}
    TEXT = {**COMMON, "corpus": "table.tsv", "format": "tsv", "header": "on", "column": "text", "lengths": "3,4", "memory": "64M"}
    IDS = {**COMMON, "corpus": "ids.bin", "format": "raw16", "vocab-size": "97", "separator": "4", "lengths": "8,700", "memory": "64M"}
    COME = {**COMMON, "tokens": "50000000", "vocab-size": "20000", "lengths": "2048", "memory": "8G"}
    FEW = {**COME, "tokens": "50000"}  # whose matrix is more than its counts
    MADE = {**TEXT, "encodings": "mds,signal"}
    # Option: the value that changes what plan says, and what it is added to.
    HEEDED = {
        "corpus": (TEXT, "other.txt"), "format": (TEXT, "text"), "column": (TEXT, "label"), "header": (TEXT, "off"), "tokenizer": (TEXT, "chars"),
        "vocab": (TEXT, "words.txt"), "vocab-size": (IDS, "2000"), "separator": (IDS, "none"), "keep-separator": (IDS, "on"),
        "ignore-ids": (IDS, "1,9,16"), "max-tokens": (TEXT, "2"),
        "sequences": (IDS, "packed"), "lengths": (IDS, "16"), "last-block": ({**IDS, "sequences": "packed", "lengths": "6000"}, "drop"),
        "unreached": (IDS, "uniform"), "min-count": (IDS, "80"),
        "noise": (IDS, "split"), "replicates": ({**COME, "noise": "split"}, "500"),
        "rarefy": ({**IDS, "corpus": "wide.bin", "vocab-size": "2000", "lengths": "200", "sequences": "packed", "noise": "split"}, "9"),
        "bootstrap": (COME, "39"),
        "solver": (COME, "lapack"), "components": (COME, "16"), "block-size": (FEW, "1000"), "threads": (COME, "2"), "memory": (COME, "4G"),
        "spectrum": ({**FEW, "vocab-size": "2000000", "dims": "1,8"}, "leading"),
        "grid": ({**FEW, "lengths": "3000", "ranks": "6", "solver": "pdsyevd"}, "6x1"),
        "write-hellinger": ({**FEW, "dims": "1", "solver": "krylov", "spectrum": "leading"}, "on"),
        "dims": (COME, "1"), "encodings": (COME, "linear"), "write-encodings": ({**FEW, "dims": "8,1024"}, "on"),
        "smacof-iterations": ({**COME, "encodings": "smacof", "dims": "8"}, "3"),
        "ranks": (COME, "7"), "tokens": (COME, "70000"), "documents": (COME, "99"), "ranks-per-node": (COME, "2"), "calibrate": (COME, "on"),
        "preset": ({key: value for key, value in IDS.items() if key != "noise"}, "paper"),
        "out": (MADE, "made"), "force": ({**MADE, "out": "made"}, "on"),
    }
    TAKEN = {
        "rarefy-geometry": "3", "hellinger-range": "1", "alpha": "0.1", "split-by": "block:3", "bootstrap-alpha": "0.1", "factored": "0.1",
        "rope-base": "500", "rope-head-dim": "32", "rope-scaling": "yarn:4", "rope-original-length": "9", "alibi-heads": "4", "random-kind": "bert",
        "smacof-tolerance": "1e-3", "smacof-weights": "tokens",
    }

    def test_help_names_what_is_heeded(self):
        text = self.succeed("plan", "--help")
        shown = set(re.findall(r"^  (?:-\w \[ )?--([a-z0-9-]+)", text, re.M)) - {"config", "help"}
        taken = set(re.findall(r"--([a-z0-9-]+)", re.search(r"without effect on the plan.*", text)[0]))
        self.assertEqual(shown, set(self.HEEDED))
        self.assertEqual(taken, set(self.TAKEN))
        # Nothing that run is told in these groups is left out.
        every = self.succeed("run", "--help")
        groups = re.split(r"^(\w+):$", every, flags=re.M)
        for group in ("corpus", "sequences", "positions", "noise", "bootstrap", "geometry", "stress"):
            options = set(re.findall(r"^  (?:-\w \[ )?--([a-z0-9-]+)", groups[groups.index(group) + 1], re.M))
            self.assertTrue(options)
            self.assertLessEqual(options, shown | taken, group)

    def test_what_help_names_changes_the_plan(self):
        made = {**self.TEXT, "noise": "split", "dims": "1", "replicates": "19", "out": "made"}
        self.succeed("run", *(word for name, value in made.items() if name != "ranks" for word in (f"--{name}", value)))
        plain = {}
        for name, (base, value) in self.HEEDED.items():
            with self.subTest(name):
                key = tuple(base.items())
                if key not in plain:
                    plain[key] = self.output(base)
                self.assertNotEqual(self.output({**base, name: value}), plain[key])

    def test_what_is_without_effect_has_none(self):
        base = {**self.COME, "noise": "split", "encodings": "mds,rope,alibi,random,smacof", "dims": "1,8", "rope-scaling": "yarn:2",
                "rope-original-length": "8"}
        plain = self.output(base)
        self.assertEqual(plain[0], 0)
        for name, value in self.TAKEN.items():
            with self.subTest(name):
                self.assertEqual(self.output({**base, name: value}), plain)
        for name, value in {"seed": "7", "resume": "off", "partial": "on", "keep-every": "5", "progress": "none"}.items():
            with self.subTest(name):
                self.assertEqual(self.output({**base, name: value}), plain)


if __name__ == "__main__":
    unittest.main()
