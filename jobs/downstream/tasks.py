"""What is trained: each task makes seeded batches, a loss, and its accuracy on held-out documents. A batch depends on seed and step alone, so a
stopped run goes on with the batches that it would have had."""
import numpy as np
import torch
from torch.nn.functional import cross_entropy


class Task:
    """tokens [documents, n] and valid; the last `held` documents of a seeded permutation are never trained on. The permutation does not depend on
    the run's seed: all runs are judged by the same documents."""
    classes = 1

    def __init__(self, tokens, valid, top, seed, batch, held):
        order = np.random.default_rng(20260405).permutation(len(tokens))
        self.seed, self.batch, self.top = seed, batch, top
        self.test, self.train = order[:held], order[held:]
        self.tokens, self.valid = tokens, valid

    def picked(self, step):
        random = np.random.default_rng((self.seed, step))
        return random, self.train[random.integers(0, len(self.train), self.batch)]

    def tensors(self, tokens, valid):
        """Without the columns that no document of the batch reaches."""
        n = int(valid.any(0).nonzero()[0].max()) + 1
        return torch.from_numpy(np.ascontiguousarray(tokens[:, :n])), torch.from_numpy(np.ascontiguousarray(valid[:, :n]))

    def chunks(self, rows, size=256):
        return (rows[i:i + size] for i in range(0, len(rows), size))


def exchange(tokens, valid, random, adjacent):
    """Each row with two tokens exchanged that differ: any two, or neighbours. Rows whose tokens are all equal stay as they are."""
    tokens, rows, size = tokens.copy(), np.arange(len(tokens)), valid.sum(1)
    i, j = np.zeros(len(tokens), np.int64), np.zeros(len(tokens), np.int64)
    wanting = np.ones(len(tokens), bool)
    for _ in range(100):
        a = random.integers(0, size - 1 if adjacent else size)
        b = a + 1 if adjacent else random.integers(0, size)
        i, j = np.where(wanting, a, i), np.where(wanting, b, j)
        wanting = tokens[rows, i] == tokens[rows, j]
        if not wanting.any():
            break
    tokens[rows, i], tokens[rows, j] = tokens[rows, j], tokens[rows, i]
    return tokens


class Order(Task):
    """Is this a document as it stands, or one with two tokens exchanged? Every document appears as both, so the tokens alone tell nothing: without
    positional signal the two are one set, and accuracy is 1/2."""

    def __init__(self, *arguments, adjacent=False, **options):
        super().__init__(*arguments, **options)
        self.adjacent = adjacent
        tokens = self.tokens[self.test]
        self.changed = exchange(tokens, self.valid[self.test], np.random.default_rng(7), adjacent)
        differs = (self.changed != tokens).any(1)
        self.test, self.changed = self.test[differs], self.changed[differs]

    def loss(self, model, step):
        random, rows = self.picked(step)
        real, valid = self.tokens[rows], self.valid[rows]
        tokens, valid = self.tensors(np.concatenate((real, exchange(real, valid, random, self.adjacent))), np.concatenate((valid, valid)))
        logits = model.sequence_logits(model.hidden(tokens, valid), valid)[:, 0]
        target = (torch.arange(len(logits)) >= len(rows)).to(logits.dtype)
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, target)

    def evaluate(self, model):
        """accuracy; paired_accuracy: how often the exchanged one of the two has the larger logit, equal ones (to rounding) by half."""
        logits = []
        for version in (self.tokens[self.test], self.changed):
            parts = []
            for part in self.chunks(np.arange(len(self.test))):
                tokens, valid = self.tensors(version[part], self.valid[self.test][part])
                parts.append(model.sequence_logits(model.hidden(tokens, valid), valid)[:, 0].double())
            logits.append(torch.cat(parts))
        real, changed = logits
        gap = changed - real
        paired = torch.where(gap.abs() < 1e-5, torch.full_like(gap, 0.5), (gap > 0).double()).mean()
        right = (real < 0).double().mean() / 2 + (changed > 0).double().mean() / 2
        return {"accuracy": float(right), "paired_accuracy": float(paired), "judged": 2 * len(gap), "chance": 0.5}


class Masked(Task):
    """Predict 15 % of the tokens, of which 80 % are masked, 10 % replaced and 10 % left, as BERT does; `top + 1` is the mask."""

    def masked(self, rows, random):
        tokens, valid = self.tokens[rows], self.valid[rows]
        asked = valid & (random.random(valid.shape) < 0.15)
        asked[np.arange(len(rows)), random.integers(0, valid.sum(1))] = True  # at least one a document
        fate = random.random(valid.shape)
        given = np.where(asked & (fate < 0.8), self.top + 1, tokens)
        given = np.where(asked & (fate >= 0.9), random.integers(0, self.top + 1, valid.shape), given)
        given, there = self.tensors(given, valid)
        n = given.shape[1]
        return given, there, torch.from_numpy(np.ascontiguousarray(asked[:, :n])), torch.from_numpy(np.ascontiguousarray(tokens[:, :n]))

    def loss(self, model, step):
        random, rows = self.picked(step)
        given, valid, asked, tokens = self.masked(rows, random)
        return cross_entropy(model.token_logits(model.hidden(given, valid)[asked]), tokens[asked])

    def evaluate(self, model):
        random, right, judged, loss = np.random.default_rng(7), 0, 0, 0.0
        for part in self.chunks(self.test):
            given, valid, asked, tokens = self.masked(part, random)
            logits = model.token_logits(model.hidden(given, valid)[asked])
            right += int((logits.argmax(-1) == tokens[asked]).sum())
            judged += int(asked.sum())
            loss += float(cross_entropy(logits, tokens[asked], reduction="sum"))
        common = np.bincount(self.tokens[self.train][self.valid[self.train]]).argmax()
        share = (self.tokens[self.test][self.valid[self.test]] == common).mean()
        return {"accuracy": right / judged, "loss": loss / judged, "judged": judged, "chance": float(share)}


class Classify(Task):
    """The label of a document."""

    def __init__(self, *arguments, labels, **options):
        super().__init__(*arguments, **options)
        self.names, self.labels = np.unique(np.asarray(labels), return_inverse=True)
        self.classes = len(self.names)

    def logits(self, model, rows):
        tokens, valid = self.tensors(self.tokens[rows], self.valid[rows])
        return model.sequence_logits(model.hidden(tokens, valid), valid), torch.from_numpy(self.labels[rows])

    def loss(self, model, step):
        return cross_entropy(*self.logits(model, self.picked(step)[1]))

    def evaluate(self, model):
        right = 0
        for part in self.chunks(self.test):
            logits, labels = self.logits(model, part)
            right += int((logits.argmax(-1) == labels).sum())
        common = np.bincount(self.labels[self.train]).argmax()
        return {"accuracy": right / len(self.test), "judged": len(self.test), "chance": float((self.labels[self.test] == common).mean())}
