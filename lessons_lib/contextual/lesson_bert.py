"""BERT (Devlin et al. 2019) in readable PyTorch: embeddings, blocks of attention and feed-forward,
and the heads that pre-training needs.

Every parameter has the name and shape that it has in ``transformers.BertModel``, so that weights go
there and back. The order is that of the paper (post-LN: add, then normalise); attention is
PyTorch's fused ``scaled_dot_product_attention`` where that is the faster way. Taught in lesson
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..core import DamagedFile, check_float, check_int, check_memory, check_seed

__all__ = ["BertSize", "LessonBert", "LessonBertForPretraining", "set_dropout"]

STD = 0.02                # of the normal distribution of the random initialisation, as in BERT
EPS = 1e-12               # of LayerNorm, as in BERT
# Our name of each setting, and its name in a config.json of transformers.
NAMES = {"vocabulary": "vocab_size", "dim": "hidden_size", "layers": "num_hidden_layers",
         "heads": "num_attention_heads", "feed_forward": "intermediate_size",
         "positions": "max_position_embeddings", "dropout": "hidden_dropout_prob"}
SIZES = ("vocabulary", "dim", "layers", "heads", "feed_forward", "positions")


@dataclass(frozen=True)
class BertSize:
    """The sizes of a BERT.

    Parameters
    ----------
    vocabulary : int >= 1
    dim : int >= 2, default 256
        Dimension of a vector, a multiple of ``heads``.
    layers, heads : int >= 1, default 4
        Blocks, and attention heads of each.
    feed_forward : int >= 1, default 1024
        Width of the hidden layer of a block.
    positions : int >= 1, default 64
        Tokens of the longest row.
    dropout : float in [0, 0.9], default 0
        Share of dropped units.

    Raises
    ------
    TypeError, ValueError
    """

    vocabulary: int
    dim: int = 256
    layers: int = 4
    heads: int = 4
    feed_forward: int = 1024
    positions: int = 64
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in SIZES:
            # LayerNorm leaves nothing of a single number
            check_int(name, getattr(self, name), low=2 if name == "dim" else 1)
        check_float("dropout", self.dropout, low=0.0, high=0.9)
        if self.dim % self.heads:
            raise ValueError(f"dim={self.dim} does not divide into heads={self.heads}; expected a "
                             "multiple")

    @property
    def weights(self) -> int:
        """How many numbers a model of these sizes learns, without its heads."""
        of_block = (4 * self.dim + 2 * self.feed_forward + 9) * self.dim + self.feed_forward
        rows = self.vocabulary + self.positions + 4            # segments and LayerNorm
        return rows * self.dim + self.layers * of_block + (self.dim + 1) * self.dim

    def to_config(self) -> dict[str, Any]:
        """The content of a ``config.json`` that ``transformers.BertConfig`` reads.

        Returns
        -------
        dict
        """
        ours = {theirs: getattr(self, name) for name, theirs in NAMES.items()}
        return ours | {
            "architectures": ["BertForPreTraining"], "attention_probs_dropout_prob": self.dropout,
            "hidden_act": "gelu", "initializer_range": STD, "layer_norm_eps": EPS,
            "model_type": "bert", "pad_token_id": 0, "tie_word_embeddings": True,
            "type_vocab_size": 2}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The sizes in a ``config.json``.

        Parameters
        ----------
        config : dict

        Returns
        -------
        BertSize

        Raises
        ------
        DamagedFile
            Not of a BERT like this one.
        """
        wanted = {"model_type": "bert", "hidden_act": "gelu", "type_vocab_size": 2}
        for key, value in wanted.items():
            if config.get(key, value) != value:
                raise DamagedFile(f"config.json says {key}={config[key]!r}; a LessonBert needs "
                                  f"{value!r}")
        missing = [theirs for name, theirs in NAMES.items()
                   if theirs not in config and name != "dropout"]
        if missing:
            raise DamagedFile(f"config.json lacks {', '.join(missing)}")
        try:
            return cls(**{name: config[theirs] for name, theirs in NAMES.items()
                          if theirs in config})
        except (TypeError, ValueError) as error:
            raise DamagedFile(f"config.json has a size that is none: {error}") from error


class Embeddings(nn.Module):
    """What a token is, plus where it stands, plus which segment it belongs to; then LayerNorm."""

    def __init__(self, size: BertSize) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(size.vocabulary, size.dim)
        self.position_embeddings = nn.Embedding(size.positions, size.dim)
        self.token_type_embeddings = nn.Embedding(2, size.dim)
        self.LayerNorm = nn.LayerNorm(size.dim, eps=EPS)
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        """Vectors (rows, length, dim) of token ids (rows, length)."""
        places = self.position_embeddings.weight[: ids.shape[1]]
        x = self.word_embeddings(ids) + self.token_type_embeddings(segments) + places
        return self.dropout(self.LayerNorm(x))


def attention(q: Tensor, k: Tensor, v: Tensor, *, seen: Tensor | None = None,
              dropout: float = 0.0) -> Tensor:
    """softmax(q k' / sqrt(width)) v of queries, keys and values (rows, heads, length, width).

    Parameters: seen, True where a position may be looked at, broadcast to (rows, heads, length,
    length); dropout, share of the softmax left out.
    """
    if q.device.type != "cpu" or not torch.is_grad_enabled():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, dropout_p=dropout)
    # for short rows the gradients of the fused kernel cost a processor more than a table of scores
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
    if seen is not None:
        scores = scores.masked_fill(~seen, float("-inf"))
    return F.dropout(scores.softmax(-1), dropout) @ v


class SelfAttention(nn.Module):
    """Every position gathers what its query finds in all keys: softmax(q k' / sqrt(width)) v."""

    def __init__(self, size: BertSize) -> None:
        super().__init__()
        self.heads, self.p = size.heads, size.dropout
        self.query = nn.Linear(size.dim, size.dim)
        self.key = nn.Linear(size.dim, size.dim)
        self.value = nn.Linear(size.dim, size.dim)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """New vectors (rows, length, dim); ``seen`` (rows, 1, 1, length) is True where a position
        may be looked at.
        """
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        gathered = attention(q, k, v, seen=seen, dropout=self.p if self.training else 0.0)
        return gathered.transpose(1, 2).flatten(2)


class AddAndNorm(nn.Module):
    """A linear map whose result is added to what came before, and normalised: BERT's post-LN."""

    def __init__(self, width: int, size: BertSize) -> None:
        super().__init__()
        self.dense = nn.Linear(width, size.dim)
        self.LayerNorm = nn.LayerNorm(size.dim, eps=EPS)
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        """LayerNorm(before + dense(x))."""
        return self.LayerNorm(before + self.dropout(self.dense(x)))


class Block(nn.Module):
    """One layer: attention, then feed-forward, each added and normalised."""

    def __init__(self, size: BertSize) -> None:
        super().__init__()
        self.attention = nn.ModuleDict(
            {"self": SelfAttention(size), "output": AddAndNorm(size.dim, size)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size.dim, size.feed_forward)})
        self.output = AddAndNorm(size.feed_forward, size)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """(rows, length, dim) to (rows, length, dim)."""
        x = self.attention["output"](self.attention["self"](x, seen), x)
        return self.output(F.gelu(self.intermediate["dense"](x)), x)


USUAL = BertSize(30_000)


class LessonBert(nn.Module):
    """A BERT encoder; `hidden_states` gives every layer, ``forward`` the last.

    Parameters
    ----------
    size : BertSize
    seed : int >= 0, default 0
        Of the random initialisation, which no other randomness touches. A model that was only
        initialised is the control that every trained number stands beside.
    """

    def __init__(self, size: BertSize, *, seed: int = 0) -> None:
        super().__init__()
        largest = max(SIZES, key=lambda name: getattr(size, name) / getattr(USUAL, name))
        check_memory(f"{size.weights:,} weights of a BERT of these sizes", 4 * size.weights,
                     f"Lower {largest}={getattr(size, largest)}")
        self.size = size
        # no memory and no draws from the global generator until the weights are ours
        with torch.device("meta"):
            self.embeddings = Embeddings(size)
            self.encoder = nn.ModuleDict(
                {"layer": nn.ModuleList(Block(size) for _ in range(size.layers))})
            self.pooler = nn.ModuleDict({"dense": nn.Linear(size.dim, size.dim)})
        initialise(self, seed)

    def hidden_states(self, ids: Tensor, *, mask: Tensor | None = None,
                      segments: Tensor | None = None) -> list[Tensor]:
        """The output of the embeddings and of each block.

        Parameters
        ----------
        ids : (rows, length) int64
        mask : (rows, length), optional
            0 where a row is padding; None: nowhere.
        segments : (rows, length) of 0 and 1, optional
            None: all 0.

        Returns
        -------
        list of (rows, length, dim) tensor
            layers + 1 of them.
        """
        seen = None if mask is None else mask[:, None, None, :].bool()
        states = [self.embeddings(ids, torch.zeros_like(ids) if segments is None else segments)]
        for block in self.encoder["layer"]:
            states.append(block(states[-1], seen))
        return states

    def forward(self, ids: Tensor, *, mask: Tensor | None = None,
                segments: Tensor | None = None) -> Tensor:
        """The last hidden state.

        Parameters
        ----------
        ids, mask, segments
            As in `hidden_states`.

        Returns
        -------
        (rows, length, dim) tensor
        """
        return self.hidden_states(ids, mask=mask, segments=segments)[-1]

    def pool(self, last: Tensor) -> Tensor:
        """BERT's pooler: tanh(W h + b) of the first position, which is [CLS].

        Parameters
        ----------
        last : (rows, length, dim) tensor

        Returns
        -------
        (rows, dim) tensor
        """
        return torch.tanh(self.pooler["dense"](last[:, 0]))


class PredictionHead(nn.Module):
    """Scores of every token of the vocabulary; its output matrix is the word table itself (tied).
    """

    def __init__(self, size: BertSize) -> None:
        super().__init__()
        self.transform = nn.ModuleDict(
            {"dense": nn.Linear(size.dim, size.dim), "LayerNorm": nn.LayerNorm(size.dim, eps=EPS)})
        self.bias = nn.Parameter(torch.zeros(size.vocabulary))

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        """Scores (n, vocabulary) of vectors (n, dim), given the word table (vocabulary, dim)."""
        x = self.transform["LayerNorm"](F.gelu(self.transform["dense"](x)))
        return F.linear(x, table, self.bias)


class LessonBertForPretraining(nn.Module):
    """A `LessonBert` (``bert``) and two heads (``cls``): masked tokens, and whether the second half
    of a row follows the first.

    The names are those of ``transformers.BertForPreTraining``.

    Parameters
    ----------
    size, seed
        As in `LessonBert`.
    """

    def __init__(self, size: BertSize, *, seed: int = 0) -> None:
        super().__init__()
        self.bert = LessonBert(size, seed=seed)
        with torch.device("meta"):
            self.cls = nn.ModuleDict(
                {"predictions": PredictionHead(size), "seq_relationship": nn.Linear(size.dim, 2)})
        initialise(self.cls, seed + 1)

    def scores(self, last: Tensor, positions: Tensor) -> Tensor:
        """Scores at some positions only: the other 85 % of a row need no product with the table.

        Parameters
        ----------
        last : (rows, length, dim) tensor
        positions : (rows, n) int64

        Returns
        -------
        (rows * n, vocabulary) tensor
        """
        picked = last.gather(1, positions[:, :, None].expand(-1, -1, last.shape[2]))
        return self.cls["predictions"](picked.flatten(0, 1),
                                       self.bert.embeddings.word_embeddings.weight)

    def forward(self, ids: Tensor, positions: Tensor, *,
                segments: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Scores of tokens at the masked positions, and of "follows" and "does not".

        Parameters
        ----------
        ids : (rows, length) int64
        positions : (rows, n) int64
        segments : (rows, length) of 0 and 1, optional

        Returns
        -------
        (rows * n, vocabulary) and (rows, 2) tensor
        """
        last = self.bert(ids, segments=segments)
        return self.scores(last, positions), self.cls["seq_relationship"](self.bert.pool(last))


def set_dropout(model: nn.Module, share: float) -> None:
    """One share for all units that can be left out, of a BERT of ours or of ``transformers``."""
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = share
        if isinstance(part, SelfAttention):
            part.p = share
        elif isinstance(getattr(part, "dropout_prob", None), float):
            part.dropout_prob = share


@torch.no_grad()
def initialise(module: nn.Module, seed: int) -> None:
    """Draw weights from a normal distribution, set biases to 0 and LayerNorm to 1, as BERT begins;
    the same on every device.
    """
    module.to_empty(device="cpu")
    chance = torch.Generator().manual_seed(check_seed(seed))
    for name, weight in module.named_parameters():
        if name.endswith("bias"):
            weight.zero_()
        elif "LayerNorm" in name:
            weight.fill_(1.0)
        else:
            weight.normal_(0.0, STD, generator=chance)
