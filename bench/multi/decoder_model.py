"""A decoder of Llama's form with random weights, split over tensor-parallel ranks; one step makes one token a sequence."""
import collections

import torch
import torch.nn.functional as F

Shape = collections.namedtuple('Shape', 'hidden layers heads kv_heads inner vocabulary')

SHAPES = {'8b': Shape(4096, 32, 32, 8, 14336, 128256),
          'small': Shape(1024, 4, 16, 8, 3584, 32000),
          'tiny': Shape(64, 2, 8, 8, 128, 256)}
_EPSILON = 1e-5


class Decoder:
    """One rank's part: heads and the inner dimension are split, rows of the vocabulary too."""

    def __init__(self, shape, rank, size, device, dtype, longest):
        for name in ('heads', 'kv_heads', 'inner', 'vocabulary'):
            if getattr(shape, name) % size:
                raise ValueError('%s, %d, does not divide into %d ranks' % (name, getattr(shape, name), size))
        self.shape, self.size, self.device, self.dtype, self.longest = shape, size, device, dtype, longest
        self.head = shape.hidden // shape.heads
        self.heads, self.kv_heads = shape.heads // size, shape.kv_heads // size
        same, own = torch.Generator(device), torch.Generator(device)
        same.manual_seed(11)
        own.manual_seed(100 + rank)

        def weight(rows, columns, generator=own):
            made = torch.empty(rows, columns, device=device, dtype=dtype)
            return made.normal_(0, columns ** -0.5, generator=generator)

        self.embedding = weight(shape.vocabulary, shape.hidden, same).mul_(shape.hidden ** 0.5)
        inner = shape.inner // size
        self.layers = [(weight((self.heads + 2 * self.kv_heads) * self.head, shape.hidden),
                        weight(shape.hidden, self.heads * self.head),
                        weight(2 * inner, shape.hidden), weight(shape.hidden, inner)) for _ in range(shape.layers)]
        self.output = weight(shape.vocabulary // size, shape.hidden)
        self.norm = torch.ones(shape.hidden, device=device, dtype=dtype)
        angles = torch.outer(torch.arange(longest, device=device).float(),
                             10000 ** (-torch.arange(0, self.head, 2, device=device).float() / self.head))
        self.cosine, self.sine = angles.cos().to(dtype), angles.sin().to(dtype)
        self.positions = torch.arange(longest, device=device)

    def start(self, batch):
        """Fresh sequences: caches, first tokens, the tokens made so far."""
        cache = (self.shape.layers, 2, batch, self.kv_heads, self.longest, self.head)
        self.cache = torch.zeros(cache, device=self.device, dtype=self.dtype)
        self.tokens = torch.zeros(batch, device=self.device, dtype=torch.long)
        self.made = torch.zeros(batch, self.longest, device=self.device, dtype=torch.long)
        self.position = torch.zeros(1, device=self.device, dtype=torch.long)
        self.logits = torch.empty(self.size, batch, self.shape.vocabulary // self.size, device=self.device, dtype=self.dtype)
        self.rewind()

    def rewind(self):
        """The same sequences from their first token."""
        batch = self.tokens.numel()
        self.cache.zero_()
        self.made.zero_()
        self.position.zero_()
        self.tokens.copy_(torch.arange(batch, device=self.device) * 37 % self.shape.vocabulary)

    def step(self, all_reduce, all_gather):
        """One token more; everything in stream order and without the host, so a graph can hold it."""
        x = self.embedding[self.tokens]
        seen = (self.positions <= self.position).view(1, 1, 1, -1)
        for index, (qkv, out, up, down) in enumerate(self.layers):
            x = x + all_reduce(self._attention(index, self._normal(x), qkv, seen) @ out.t())
            gate, value = (self._normal(x) @ up.t()).chunk(2, dim=-1)
            x = x + all_reduce((F.silu(gate) * value) @ down.t())
        all_gather(self.logits, (self._normal(x) @ self.output.t()).contiguous())
        self.tokens.copy_(self.logits.transpose(0, 1).flatten(1).argmax(dim=-1))
        self.made.index_copy_(1, self.position, self.tokens.unsqueeze(1))
        self.position.add_(1)

    def _normal(self, x):
        return F.rms_norm(x, (self.shape.hidden,), self.norm, _EPSILON)

    def _attention(self, index, x, weight, seen):
        batch = x.shape[0]
        q, k, v = (x @ weight.t()).view(batch, -1, self.head).split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        keys, values = self.cache[index, 0], self.cache[index, 1]
        keys.index_copy_(2, self.position, self._turned(k).unsqueeze(2))
        values.index_copy_(2, self.position, v.unsqueeze(2))
        found = F.scaled_dot_product_attention(self._turned(q).unsqueeze(2), keys, values, attn_mask=seen, enable_gqa=True)
        return found.view(batch, -1)

    def _turned(self, x):
        cosine, sine = self.cosine[self.position], self.sine[self.position]
        even, odd = x.chunk(2, dim=-1)
        return torch.cat([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1)
