"""One token stream in every layout, cut into sequences in every way, counted by any number of ranks: the counts of an independent NumPy."""
import h5py
import numpy as np

import token_files
from harness import Case

V = 59  # id 59 is kept free for separators


def make_documents(seed=3, count=400):
    """Geometric lengths, empty ones first, last and in between, Zipf ids that drift with position."""
    draw = np.random.default_rng(seed)
    lengths = draw.geometric(1 / 25, count) - 1
    lengths[[0, 7, 8, count - 1]] = 0
    weights = 1 / np.arange(1, V + 1)
    documents = []
    for length in lengths:
        ids = draw.choice(V, size=length, p=weights / weights.sum())
        documents.append([int(t) for t in (ids + np.arange(length) // 10) % V])
    return documents


def dense(runs, n, v=60):
    """Counts of (position, id) from runs of ids that begin at position 0."""
    table = np.zeros((n, v), dtype=np.int64)
    for run in runs:
        np.add.at(table, (np.arange(len(run)), np.array(run, dtype=np.int64)), 1)
    return table


def sequences_of(documents, how, n):
    if how == "document":
        return [d[:n] for d in documents]
    if how == "chunk":
        return [d[k:k + n] for d in documents for k in range(0, len(d), n)]
    stream = [t for d in documents for t in d]
    return [stream[k:k + n] for k in range(0, len(stream), n)]


def read_table(group, n, v=60):
    table = np.zeros((n, v), dtype=np.int64)
    indptr = group["indptr"][()]
    assert len(indptr) == n + 1, (len(indptr), n)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    table[rows, group["token"][()]] = group["count"][()]
    return table


class EveryLayout(Case):
    def setUp(self):
        super().setUp()
        self.documents = make_documents()

    def test_counts_are_numpys_from_every_layout_in_every_mode(self):
        for what, options in token_files.every_layout(self.folder, self.documents):
            for how in ("document", "chunk", "packed"):
                out = f"out-{what}-{how}".replace(" ", "-")
                with self.subTest(layout=what, sequences=how):
                    self.succeed("count", *options, "--sequences", how, "--lengths", "7,16", "--out", out, "--progress", "none")
                    with h5py.File(self.folder / out / "counts.h5") as f:
                        self.assertEqual(f.attrs["document_count"], len(self.documents))
                        self.assertEqual(f.attrs["token_count"], sum(map(len, self.documents)))
                        self.assertEqual(f.attrs["longest_document"], max(map(len, self.documents)))
                        self.assertEqual(f.attrs["empty_document_count"], sum(not d for d in self.documents))
                        for n in ((16,) if how == "document" else (7, 16)):
                            group = f if how == "document" else f[f"length_{n}"]
                            expected = dense(sequences_of(self.documents, how, n), n)
                            np.testing.assert_array_equal(read_table(group["counts"], n), expected)
                            np.testing.assert_array_equal(group["position_total"][()], expected.sum(axis=1))

    def test_any_number_of_ranks_gives_the_same_bits(self):
        layouts = dict(token_files.every_layout(self.folder, self.documents))
        for what in ("text", "text.gz", "jsonl", "megatron u16", "raw16", "llm.c Llama-3", "infini-gram u32", "HDF5"):
            for how in ("document", "packed"):
                files = []
                for ranks in (1, 2, 3, 4):
                    out = f"out-{what}-{how}-{ranks}".replace(" ", "-")
                    self.succeed("count", *layouts[what], "--sequences", how, "--lengths", "7,16", "--noise", "all", "--out", out, ranks=ranks)
                    with h5py.File(self.folder / out / "counts.h5") as f:
                        found = {}
                        f.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
                        files.append(found)
                for other in files[1:]:
                    with self.subTest(layout=what, sequences=how):
                        self.assertEqual(files[0].keys(), other.keys())
                        for name in files[0]:
                            np.testing.assert_array_equal(files[0][name], other[name], err_msg=name)

    def test_the_last_partial_block_may_be_dropped(self):
        path = token_files.megatron(self.folder, "m", self.documents)
        self.succeed("count", "--corpus", path, "--vocab-size", "60", "--sequences", "packed", "--last-block", "drop", "--lengths", "64", "--out", "out", ranks=3)
        runs = [run for run in sequences_of(self.documents, "packed", 64) if len(run) == 64]
        with h5py.File(self.folder / "out/counts.h5") as f:
            np.testing.assert_array_equal(read_table(f["length_64/counts"], 64), dense(runs, 64))

    def test_streams_around_one_block(self):
        for tokens in (1, 15, 16, 17):
            path = token_files.megatron(self.folder, f"s{tokens}", [list(range(tokens))])
            self.succeed("count", "--corpus", path, "--vocab-size", "60", "--sequences", "packed", "--lengths", "16", "--out", f"s{tokens}-out", ranks=3)
            with h5py.File(self.folder / f"s{tokens}-out/counts.h5") as f:
                expected = dense(sequences_of([list(range(tokens))], "packed", 16), 16)
                np.testing.assert_array_equal(read_table(f["length_16/counts"], 16), expected)
        path = token_files.megatron(self.folder, "none", [[], []])
        self.assertIn("no token", self.error_line("count", "--corpus", path, "--vocab-size", "60", "--lengths", "4", "--out", "none"))

    def test_separators_kept_and_ids_ignored(self):
        path = token_files.raw(self.folder, "r.bin", self.documents, separator=59)
        common = ("count", "--corpus", path, "--format", "raw16", "--vocab-size", "60", "--lengths", "16")
        self.succeed(*common, "--separator", "59", "--keep-separator", "--out", "kept", ranks=2)
        with h5py.File(self.folder / "kept/counts.h5") as f:
            np.testing.assert_array_equal(read_table(f["counts"], 16), dense([(d + [59])[:16] for d in self.documents], 16))
        self.succeed(*common, "--separator", "59", "--ignore-ids", "0,3", "--out", "ignored", ranks=2)
        with h5py.File(self.folder / "ignored/counts.h5") as f:
            runs = [[t for t in d if t not in (0, 3)][:16] for d in self.documents]
            np.testing.assert_array_equal(read_table(f["counts"], 16), dense(runs, 16))
        self.succeed(*common, "--separator", "none", "--sequences", "packed", "--out", "stream", ranks=2)
        stream = [t for d in self.documents for t in d + [59]]
        with h5py.File(self.folder / "stream/counts.h5") as f:
            np.testing.assert_array_equal(read_table(f["length_16/counts"], 16), dense(sequences_of([stream], "packed", 16), 16))

    def test_max_tokens_cuts_documents_before_sequences(self):
        path = token_files.megatron(self.folder, "m", self.documents)
        self.succeed("count", "--corpus", path, "--vocab-size", "60", "--sequences", "packed", "--max-tokens", "10", "--lengths", "16", "--out", "out", ranks=2)
        runs = sequences_of([d[:10] for d in self.documents], "packed", 16)
        with h5py.File(self.folder / "out/counts.h5") as f:
            np.testing.assert_array_equal(read_table(f["length_16/counts"], 16), dense(runs, 16))

    def test_rows_of_a_two_dimensional_array_are_documents(self):
        rows = np.random.default_rng(1).integers(0, 60, (50, 12))
        for name, values in (("rows.npy", rows.astype(np.int64)), ("rows32.npy", rows.astype(np.int32))):
            np.save(self.folder / name, values)
            self.succeed("count", "--corpus", self.folder / name, "--vocab-size", "60", "--lengths", "12", "--out", name + "-out", ranks=2)
            with h5py.File(self.folder / (name + "-out") / "counts.h5") as f:
                np.testing.assert_array_equal(read_table(f["counts"], 12), dense(rows.tolist(), 12))


class FirstUse(Case):
    """What new users stumble on: each is refused, warned of, or works."""

    def test_a_built_vocabulary_of_cut_documents(self):
        self.write("t.txt", "a b c\na a d e\nb\n")
        for tokenizer, v in (("whitespace", 2), ("chars", 3)):
            self.succeed("count", "--corpus", "t.txt", "--tokenizer", tokenizer, "--max-tokens", "2", "--lengths", "4", "--out", tokenizer, ranks=2)
            with h5py.File(self.folder / tokenizer / "counts.h5") as f:
                self.assertEqual(f.attrs["vocab_size"], v)
                self.assertEqual(f.attrs["token_count"], 5)

    def test_32_bit_ids_read_as_16_bits(self):
        for v in (60, 100278):
            ids = np.random.default_rng(2).integers(0, v, 5000).astype(np.uint32)
            for name, options in ((f"ids{v}.npy", ()), (f"ids{v}.bin", ("--format", "raw16"))):
                ids.tofile(self.folder / name)
                line = self.error_line("count", "--corpus", name, *options, "--vocab-size", v, "--lengths", "4", "--out", "out")
                self.assertIn("--format raw32", line)

    def test_a_separator_that_separates_nothing(self):
        np.arange(50, dtype=np.uint16).tofile(self.folder / "ids.bin")
        common = ("count", "--corpus", "ids.bin", "--format", "raw16", "--vocab-size", "60", "--lengths", "4")
        self.assertIn("warning: the separator 55 separates nothing", self.succeed(*common, "--separator", "55", "--out", "a"))
        self.assertIn("warning: nothing separates documents", self.succeed(*common, "--out", "b"))

    def test_no_full_block(self):
        np.arange(50, dtype=np.uint16).tofile(self.folder / "ids.bin")
        line = self.error_line("count", "--corpus", "ids.bin", "--format", "raw16", "--vocab-size", "60", "--sequences", "packed", "--last-block", "drop",
                               "--lengths", "51", "--out", "out")
        self.assertIn("--last-block drop", line)

    def test_an_end_of_text_that_is_a_word(self):
        self.write("t.txt", "a b c\n")
        line = self.error_line("tokenize", "--corpus", "t.txt", "--token-file", "raw", "--end-of-text", "1", "--out", "out", ranks=2)
        self.assertIn("--end-of-text 1", line)

    def test_inspect_tells_our_files_from_token_files(self):
        self.write("t.txt", "a b c\nb c\n")
        self.succeed("run", "--corpus", "t.txt", "--lengths", "3", "--dims", "1", "--out", "out")
        for name in ("counts.h5", "geometry-3.h5", "stress-3.h5", "sweep.h5"):
            self.assertIn("posgeom", self.succeed("inspect", f"out/{name}", ranks=2))
        self.assertIn("ids", self.succeed("inspect", token_files.hdf5(self.folder, "ids.h5", make_documents())))


class Noise(Case):
    def setUp(self):
        super().setUp()
        self.documents = make_documents(seed=5, count=900)
        self.path = token_files.megatron(self.folder, "m", self.documents)

    def count(self, out, *options, how="document"):
        self.succeed("count", "--corpus", self.path, "--vocab-size", "60", "--sequences", how, "--lengths", "8,24", "--noise", "all", "--out", out, *options, ranks=2)
        return h5py.File(self.folder / out / "counts.h5")

    def test_halves_split_the_documents(self):
        with self.count("one") as f:
            whole, half = read_table(f["counts"], 24), read_table(f["counts_half_a"], 24)
            self.assertTrue((half <= whole).all())
            share = half[0].sum() / whole[0].sum()  # position 0 counts documents
            self.assertLess(abs(share - 0.5), 0.1)
        with self.count("two", "--seed", "2") as f:
            self.assertTrue((read_table(f["counts_half_a"], 24) != half).any())
            np.testing.assert_array_equal(read_table(f["counts"], 24), whole)

    def test_blocks_of_documents_stay_together(self):
        with self.count("blocks", "--split-by", "block:900") as f:
            half, whole = read_table(f["counts_half_a"], 24), read_table(f["counts"], 24)
            self.assertTrue((half == whole).all() or not half.any())

    def test_columns_keep_their_rows_together(self):
        lines = "".join(f"s{k % 2}\t{' '.join(f'w{t}' for t in d)}\n" for k, d in enumerate(self.documents))
        self.write("split.tsv", "source\ttext\n" + lines)
        self.succeed("count", "--corpus", "split.tsv", "--header", "--column", "text", "--lengths", "8", "--noise", "split", "--split-by", "column:source",
                     "--out", "columns", ranks=2)
        with h5py.File(self.folder / "columns/counts.h5") as f:
            half, whole = f["counts_half_a/count"][()].sum(), f["counts/count"][()].sum()
            sources = [sum(len(d[:8]) for d in self.documents[k::2]) for k in (0, 1)]
            self.assertIn(half, (0, whole, *sources))

    def test_the_null_keeps_every_sequence_and_loses_the_order(self):
        for how in ("document", "chunk", "packed"):
            with self.count(how, how=how) as f:
                for n in (8, 24):
                    runs = sequences_of(self.documents, how, n)
                    real, null = dense(runs, n), read_table(f[f"length_{n}/counts_shuffled"], n)
                    np.testing.assert_array_equal(null.sum(axis=1), real.sum(axis=1))
                    np.testing.assert_array_equal(null.sum(axis=0), real.sum(axis=0))
                    self.assertTrue((null != real).any())
                    half = read_table(f[f"length_{n}/counts_shuffled_half_a"], n)
                    self.assertTrue((half <= null).all())


class Tokenize(Case):
    def test_files_are_the_same_bytes_and_count_the_same(self):
        documents = make_documents()
        lines = [" ".join(f"w{token}" for token in document) for document in documents]
        self.write("plain.txt", "".join(line + "\n" for line in lines))
        self.succeed("count", "--corpus", "plain.txt", "--lengths", "16", "--out", "from-text")
        for kind in ("megatron", "raw"):
            written = []
            for ranks in (1, 2, 3, 4):
                out = f"{kind}-{ranks}"
                self.succeed("tokenize", "--corpus", "plain.txt", "--token-file", kind, *(("--end-of-text", "60000") if kind == "raw" else ()), "--out",
                             out, ranks=ranks)
                written.append({path.name: path.read_bytes() for path in sorted((self.folder / out).iterdir()) if not path.name.endswith(".lock")})
            for other in written[1:]:
                self.assertEqual(written[0], other)
            self.assertEqual(set(written[0]), {"tokens.bin", "tokens.vocab.txt"} | ({"tokens.idx"} if kind == "megatron" else set()))
            options = () if kind == "megatron" else ("--format", "raw16", "--separator", "60000")
            self.succeed("count", "--corpus", f"{kind}-2/tokens.bin", *options, "--vocab-size", "59", "--lengths", "16", "--out", f"from-{kind}", ranks=2)
            with h5py.File(self.folder / "from-text/counts.h5") as a, h5py.File(self.folder / f"from-{kind}/counts.h5") as b:
                for name in ("position_total", "counts/indptr", "counts/token", "counts/count"):
                    np.testing.assert_array_equal(a[name][()], b[name][()])

    def test_what_is_there_is_not_overwritten(self):
        self.write("plain.txt", "a b\n")
        self.succeed("tokenize", "--corpus", "plain.txt", "--out", "out")
        self.assertIn("--force", self.error_line("tokenize", "--corpus", "plain.txt", "--out", "out"))
        self.succeed("tokenize", "--corpus", "plain.txt", "--out", "out", "--force")

    def test_inspect_reads_token_files(self):
        path = token_files.megatron(self.folder, "m", make_documents())
        text = self.succeed("inspect", path)
        self.assertIn("megatron", text)
        self.assertIn("400", text)


class WholeRun(Case):
    def test_run_goes_from_a_token_file_to_the_sweep(self):
        path = token_files.megatron(self.folder, "m", make_documents())
        self.succeed("run", "--corpus", path, "--vocab-size", "60", "--sequences", "packed", "--lengths", "8,16", "--dims", "1,2,4", "--out", "out", ranks=2)
        with h5py.File(self.folder / "out/sweep.h5") as f:
            np.testing.assert_array_equal(f["length"][()], [8, 16])
            self.assertFalse(np.isnan(f["raw"][()]).all())

    def test_a_length_more_counts_that_length_alone(self):
        path = token_files.megatron(self.folder, "m", make_documents())
        common = ("count", "--corpus", path, "--vocab-size", "60", "--sequences", "packed", "--out", "out")
        self.succeed(*common, "--lengths", "8")
        self.succeed(*common, "--lengths", "8,16", ranks=3)
        self.assertIn("reused", self.succeed(*common, "--lengths", "16"))
        self.succeed(*common, "--lengths", "16", "--noise", "all")
        with h5py.File(self.folder / "out/counts.h5") as f:
            for n in (8, 16):
                np.testing.assert_array_equal(read_table(f[f"length_{n}/counts"], n), dense(sequences_of(make_documents(), "packed", n), n))
            self.assertIn("counts_half_a", f["length_16"])
        self.assertIn("reused", self.succeed(*common, "--lengths", "8,16"))
