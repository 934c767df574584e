"""A small BERT-style encoder with attention of its own, so that rope, alibi and a causal mask can act inside it."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads, feed):
        super().__init__()
        self.heads = heads
        self.norm_attention, self.norm_feed = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, feed), nn.GELU(), nn.Linear(feed, width))

    def forward(self, x, position, mask):
        batch, n, width = x.shape
        q, k, v = self.query_key_value(self.norm_attention(x)).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = position.rotate(q, k)
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + position.bias(n) + mask
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, width))
        return x + self.feed(self.norm_feed(x))


class Encoder(nn.Module):
    """Hidden states [batch, n, width] of tokens [batch, n]; heads for a whole sequence and for single tokens (tied to the embedding).

    tokens          ids below `vocabulary`        classes   outputs of the sequence's head
    causal          position i sees 0 .. i only
    Pooling is by mean and maximum over the valid positions, and no token is added, so that without positional signal the sequence's logits do
    not depend on the order of the tokens.
    """

    def __init__(self, vocabulary, classes, position, layers=2, heads=4, feed=256, causal=False):
        super().__init__()
        width = position.width
        self.position, self.causal = position, causal
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, 0, width ** -0.5)  # rows of norm 1, as a table of Hellinger distances has about
        self.layers = nn.ModuleList(Layer(width, heads, feed) for _ in range(layers))
        self.norm, self.bias = nn.LayerNorm(width), nn.Parameter(torch.zeros(vocabulary))
        self.sequence = nn.Linear(2 * width, classes)

    def hidden(self, tokens, valid):
        n = tokens.shape[1]
        blocked = ~valid[:, None, None, :]
        if self.causal:
            blocked = blocked | torch.ones(n, n, dtype=torch.bool).triu(1)
        mask = torch.zeros(blocked.shape, dtype=self.embedding.weight.dtype).masked_fill(blocked, float("-inf"))
        x = self.position(self.embedding(tokens))
        for layer in self.layers:
            x = layer(x, self.position, mask)
        return self.norm(x)

    def sequence_logits(self, hidden, valid):
        there = valid[..., None]
        mean = (hidden * there).sum(1) / there.sum(1)
        most = hidden.masked_fill(~there, float("-inf")).amax(1)
        return self.sequence(torch.cat((mean, most), -1))

    def token_logits(self, hidden):
        return hidden @ self.embedding.weight.T + self.bias
