"""The two policies: an encoder that scores edits and a decoder that scores phrases (the paper's section 3.2)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.core.edits import Op
from riseq.model.inputs import Condition
from riseq.model.transformer import BackboneConfig, Encoder, Layer, cast_mask, make_linear, padding_mask
from riseq.types import InputError

MAX_SPAN_PIECES = 15
"""A longer span is read by its first pieces; the decoder still sees the whole question by cross-attention."""
NEVER = -1e4
"""The score of what cannot be said or done."""
RARE = -4.0
"""The score that copied phrases begin with: a model that goes on with them says at first what it said."""


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Everything that decides the network's shape."""

    backbone: BackboneConfig
    phrases: int
    decoder_layers: int = 2
    decoder_input: Literal["states", "tokens"] = "states"
    """``tokens``: the span's embeddings, as the paper has it; ``states``: the encoder's states are added, so that the
    decoder knows which occurrence of a word is meant."""
    dropout: float = 0.1
    conditioned: bool = False
    """Whether it is told which words may go (``riseq.model.inputs.Condition``)."""
    joint: bool = False
    """Whether an operation's score depends on the operation before it (``riseq.core.chain``)."""
    beside: bool = False
    """Whether a question that was edited already is read with what it was at first before it, as an utterance."""
    stops: bool = False
    """Whether it says if its best edits are worth having."""
    copies: int = 0
    """The longest phrase, in words, that can be copied from what is read; 0: none."""
    templates: int = 0
    """In how many templates a copied phrase can stand, the bare one not counted."""
    low_rank: int = 0
    """The rank of the difference that each matrix of a layer has to the model it was begun from; 0: none."""
    phrase_rank: int = 0
    """The rank of the phrase head's difference to that model's; 0: none, for its phrases are others or it is whole."""


class CopyInputs(NamedTuple):
    """The words of a batch that phrases can be copied from (``riseq.model.copies``), K spans in C words."""

    first_BC: Tensor
    last_BC: Tensor
    """Where each word's first and last piece stand."""
    room_BC: Tensor
    """How many words can be copied from each word on."""
    same_BK: Tensor | None
    """The id that stands for each span's words; None where spans stand in templates."""


class Inputs(NamedTuple):
    """A batch of questions in their contexts."""

    ids_BL: Tensor
    types_BL: Tensor
    mask_BL: Tensor
    firsts_BW: Tensor
    """Where each word starts, the marker first; padding repeats position 0."""
    condition_B: Tensor


class Spans(NamedTuple):
    """Where a batch wants phrases: pieces ``start`` to ``end`` of row ``row``."""

    row_N: Tensor
    start_N: Tensor
    end_N: Tensor


class RiseNetwork(nn.Module):
    """The editing policy (Eq. 5) and the phrasing policy (Eq. 6) over one encoder."""

    def __init__(self, config: NetworkConfig, cls_id: int) -> None:
        super().__init__()
        self.config = config
        self.cls_id = cls_id
        backbone = config.backbone
        self.encoder = Encoder(backbone, config.dropout, config.low_rank)
        self.conditions = nn.Embedding(len(Condition), backbone.hidden) if config.conditioned else None
        if self.conditions is not None:
            nn.init.zeros_(self.conditions.weight)
        self.edit_head = nn.Linear(backbone.hidden, len(Op))
        self.transitions = nn.Linear(backbone.hidden, len(Op) ** 2) if config.joint else None
        if self.transitions is not None:  # at first independent
            nn.init.zeros_(self.transitions.weight)
            nn.init.zeros_(self.transitions.bias)
        self.stop_head = nn.Linear(backbone.hidden, 1) if config.stops else None
        rank = config.low_rank
        layers = (Layer(backbone, config.dropout, cross=True, rank=rank) for _ in range(config.decoder_layers))
        self.decoder = nn.ModuleList(layers)
        self.span_positions = nn.Embedding(MAX_SPAN_PIECES + 1, backbone.hidden)
        self.span_norm = nn.LayerNorm(backbone.hidden, backbone.norm_eps)
        self.span_dropout = nn.Dropout(config.dropout)
        self.phrase_head = make_linear(backbone.hidden, config.phrases, config.phrase_rank)
        if config.copies:  # at first all spans are alike
            self.copy_queries = nn.Linear(backbone.hidden, 2 * backbone.hidden)
            nn.init.zeros_(self.copy_queries.weight)
            nn.init.zeros_(self.copy_queries.bias)
            self.copy_lengths = nn.Parameter(torch.full((config.copies,), RARE))
        self.template_head = nn.Linear(backbone.hidden, config.templates) if config.templates else None
        if self.template_head is not None:  # at first all are alike, and rarer than the bare span
            nn.init.zeros_(self.template_head.weight)
            nn.init.constant_(self.template_head.bias, RARE)
        self.register_buffer("marker_mask", torch.zeros(len(Op)), persistent=False)
        self.register_buffer("neighbour_mask", torch.zeros(len(Op), len(Op)), persistent=False)
        self.reset_buffers()

    def reset_buffers(self) -> None:
        """Fill what is not stored: the marker is only kept or inserted after; what goes is one kind of run."""
        self.marker_mask: Tensor
        self.neighbour_mask: Tensor
        self.marker_mask.zero_()
        self.marker_mask[[Op.DELETE, Op.SUBSTITUTE]] = NEVER
        self.neighbour_mask.zero_()
        self.neighbour_mask[[Op.DELETE, Op.SUBSTITUTE], [Op.SUBSTITUTE, Op.DELETE]] = NEVER

    def encode(self, inputs: Inputs) -> Tensor:
        """Return the states of every piece, [B, L, D]."""
        states: Tensor = self.encoder(inputs.ids_BL, inputs.types_BL, inputs.mask_BL, self.embed(inputs.condition_B))
        return states

    def embed(self, condition_B: Tensor) -> Tensor | None:
        """Return what each row's condition adds to the embeddings of all its pieces, [B, 1, D]."""
        return None if self.conditions is None else self.conditions(condition_B)[:, None, :]

    def score_edits(self, states_BLD: Tensor, firsts_BW: Tensor) -> Tensor:
        """Return log-probabilities [B, W, 4] in the Op order, read at each word's first piece.

        Those of a joint policy are [B, W, 4, 4]: after each operation of the word before.
        """
        index = firsts_BW[:, :, None].expand(-1, -1, states_BLD.shape[2])
        states_BWD = states_BLD.gather(1, index)
        scores = self.edit_head(states_BWD).float()
        marker = torch.zeros_like(scores[:1, :, :1])
        marker[:, 0] = 1.0
        scores = scores + marker * self.marker_mask
        if self.transitions is not None:
            pairs = self.transitions(states_BWD).float().unflatten(-1, (len(Op), len(Op)))
            scores = scores[:, :, None] + pairs + self.neighbour_mask
        found: Tensor = scores.log_softmax(-1)
        return found

    def score_stop(self, states_BLD: Tensor, firsts_BW: Tensor) -> Tensor | None:
        """Return the log-odds that a row's best edits bring it closer, [B], read at the marker; None without a head."""
        if self.stop_head is None:
            return None
        markers_BD = states_BLD[torch.arange(len(states_BLD), device=states_BLD.device), firsts_BW[:, 0]]
        odds: Tensor = self.stop_head(markers_BD)[:, 0].float()
        return odds

    def score_phrases(
        self, inputs: Inputs, states_BLD: Tensor, spans: Spans, copies: CopyInputs | None = None
    ) -> Tensor:
        """Return the phrases' log-probabilities for each span: the vocabulary's, and copied ones behind, [N, P + K].

        The one of n words from the batch's word i on is number ``i * copies + n - 1`` of those that are copied. With
        templates that is the sum over all of them, and log-probabilities of the templates follow, [N, P + K + T]: a
        phrase is scored by the sum of its span's score and its template's, in one softmax with the vocabulary.
        """
        steps_S = torch.arange(MAX_SPAN_PIECES, device=states_BLD.device)
        length_N = (spans.end_N - spans.start_N).clamp(max=MAX_SPAN_PIECES)
        real_NS = steps_S[None, :] < length_N[:, None]
        at_NS = (spans.start_N[:, None] + steps_S[None, :]).clamp(max=states_BLD.shape[1] - 1)
        rows_NS = spans.row_N[:, None].expand(-1, MAX_SPAN_PIECES)
        table = self.encoder.embeddings.pieces
        span_NSD = table(inputs.ids_BL[rows_NS, at_NS])
        if self.config.decoder_input == "states":
            span_NSD = span_NSD + states_BLD[rows_NS, at_NS]
        # The span's tokens and then [CLS]: it stands first in memory but has the position after the span's last.
        cls_N1D = table(torch.full_like(spans.row_N, self.cls_id))[:, None]
        x = torch.cat([cls_N1D.to(span_NSD.dtype), span_NSD], dim=1)
        positions = torch.cat([length_N[:, None], steps_S[None, :].expand(len(length_N), -1)], dim=1)
        x = self.span_dropout(self.span_norm(x + self.span_positions(positions)))
        real = torch.cat([torch.ones_like(real_NS[:, :1]), real_NS], dim=1)
        mask = cast_mask(padding_mask(real, x.dtype))
        memory_mask = cast_mask(padding_mask(inputs.mask_BL[spans.row_N], x.dtype))
        memory = states_BLD[spans.row_N]
        for layer in self.decoder:
            x = layer(x, mask, memory, memory_mask)
        return self.read_phrases(x[:, :1], memory, spans.row_N, copies)

    def read_phrases(
        self, out_N1D: Tensor, memory_NLD: Tensor, row_N: Tensor, copies: CopyInputs | None = None
    ) -> Tensor:
        """Return what ``score_phrases`` does, by what the decoder's last layer gives out at [CLS]."""
        scores: Tensor = self.phrase_head(out_N1D)[:, 0].float()
        if not self.config.copies:
            return scores.log_softmax(-1)
        copied_NK = self._score_copies(out_N1D, memory_NLD, copies, row_N)
        if self.template_head is None:
            return torch.cat([scores, copied_NK], dim=1).log_softmax(-1)
        templates_NT = functional.pad(self.template_head(out_N1D)[:, 0].float(), (1, 0))
        scores = torch.cat([scores, copied_NK + templates_NT.logsumexp(-1, keepdim=True)], dim=1)
        return torch.cat([scores.log_softmax(-1), templates_NT.log_softmax(-1)], dim=1)

    def _score_copies(self, out_N1D: Tensor, memory_NLD: Tensor, words: CopyInputs | None, row_N: Tensor) -> Tensor:
        """Return the scores of all spans of each row's words: one of its first piece, of its last, of its length."""
        if words is None:
            raise ValueError("a network that copies phrases reads a batch that says where its words are")
        most = self.config.copies
        queries_N2D = self.copy_queries(out_N1D)[:, 0].unflatten(-1, (2, -1)) * out_N1D.shape[2] ** -0.5
        scores_N2L = (queries_N2D @ memory_NLD.transpose(1, 2).to(queries_N2D.dtype)).float()
        starts_NC = scores_N2L[:, 0].gather(1, words.first_BC[row_N])
        ends_NC = scores_N2L[:, 1].gather(1, words.last_BC[row_N])
        ends_NCn = functional.pad(ends_NC, (0, most - 1)).unfold(1, most, 1)
        scores_NCn = starts_NC[:, :, None] + ends_NCn + self.copy_lengths
        counts_n = torch.arange(1, most + 1, device=row_N.device)
        found: Tensor = scores_NCn.masked_fill(words.room_BC[row_N][:, :, None] < counts_n, NEVER).flatten(1)
        return found


def merge_differences(network: RiseNetwork) -> RiseNetwork:
    """Return a copy of the network in which matrices with a difference of low rank are plain ones."""
    state = {name: weight.detach().float().cpu() for name, weight in network.state_dict().items()}
    for layer in [name.removesuffix(".narrow") for name in state if name.endswith(".narrow")]:
        difference = state.pop(f"{layer}.narrow") @ state.pop(f"{layer}.wide")
        state[f"{layer}.weight"] = state[f"{layer}.weight"] + difference.T
    plain = RiseNetwork(replace(network.config, low_rank=0, phrase_rank=0), network.cls_id)
    plain.load_state_dict(state)
    return plain.eval()


class Lesson(NamedTuple):
    """What teachers know of a batch."""

    edits_BWPE: Tensor
    """How likely each operation is after each, for each word."""
    phrases_NP: Tensor
    """How likely each phrase is at each span."""
    states_BLD: Tensor
    """The states that the first teacher's encoder ends with."""


class Ensemble(nn.Module):
    """Networks with the same phrases; ``maps[k]`` turns piece ids into those of network k's vocabulary."""

    def __init__(self, networks: Sequence[RiseNetwork], maps: Sequence[Tensor]) -> None:
        super().__init__()
        if not networks or len(networks) != len(maps):
            raise ValueError(f"{len(maps)} maps for {len(networks)} networks, expected one each and at least one")
        self.networks = nn.ModuleList(networks)
        for number, ids in enumerate(maps):
            self.register_buffer(f"map{number}", ids, persistent=False)

    def _members(self, inputs: Inputs) -> list[tuple[RiseNetwork, Inputs]]:
        maps = [self.get_buffer(f"map{number}") for number in range(len(self.networks))]
        members = [network for network in self.networks if isinstance(network, RiseNetwork)]
        return [(one, inputs._replace(ids_BL=ids[inputs.ids_BL])) for one, ids in zip(members, maps, strict=True)]

    @torch.no_grad()
    def teach(self, inputs: Inputs, spans: Spans) -> Lesson:
        """Return what the networks know of a batch: their mean probabilities, and the first one's states."""
        edits, phrases, states = [], [], []
        for network, seen in self._members(inputs):
            states.append(encoded := network.encode(seen))
            edits.append(pair_probabilities(network.score_edits(encoded, seen.firsts_BW)))
            phrases.append(network.score_phrases(seen, encoded, spans).exp())
        return Lesson(torch.stack(edits).mean(0), torch.stack(phrases).mean(0), states[0])

    def encode(self, inputs: Inputs) -> list[Tensor]:
        """Return each network's states."""
        return [network.encode(seen) for network, seen in self._members(inputs)]

    def score_edits(self, states: list[Tensor], firsts_BW: Tensor) -> Tensor:
        """Return the log of the mean probabilities of edits."""
        members = [network for network in self.networks if isinstance(network, RiseNetwork)]
        return _log_mean([network.score_edits(s, firsts_BW) for network, s in zip(members, states, strict=True)])

    def score_phrases(self, inputs: Inputs, states: list[Tensor], spans: Spans) -> Tensor:
        """Return the log of the mean probabilities of phrases."""
        members = zip(self._members(inputs), states, strict=True)
        return _log_mean([network.score_phrases(seen, s, spans) for (network, seen), s in members])


def pair_probabilities(scores: Tensor) -> Tensor:
    """Return how likely each operation is after each, [B, W, 4, 4], by scores [B, W, 4] or [B, W, 4, 4]."""
    odds_BWPE = (scores if scores.ndim == 4 else scores[:, :, None].expand(-1, -1, len(Op), -1)).exp()
    before_BP = functional.one_hot(torch.zeros_like(odds_BWPE[:, 0, 0, 0], dtype=torch.long), len(Op)).to(odds_BWPE)
    pairs = []
    for word in range(odds_BWPE.shape[1]):
        pairs.append(before_BP[:, :, None] * odds_BWPE[:, word])
        before_BP = pairs[-1].sum(1)
    return torch.stack(pairs, dim=1)


def merge_copies(scores_NP: Tensor, same_NK: Tensor) -> Tensor:
    """Return log-probabilities of words: what spans of equal words have stands in one column, that of their id.

    The last columns of ``scores_NP`` are the copied phrases, whose ids are ``same_NK``; all other columns of a phrase
    get ``NEVER``.
    """
    phrases = scores_NP.shape[1] - same_NK.shape[1]
    same_NK, copied_NK = same_NK.long(), scores_NP[:, phrases:]
    # By the largest of each, so that a sum of small ones is no zero.
    largest_NP = scores_NP.detach().clone().scatter_reduce_(1, same_NK, copied_NK.detach(), "amax")
    said = (scores_NP[:, :phrases] - largest_NP[:, :phrases]).exp()
    sums_NP = torch.cat([said, torch.zeros_like(copied_NK)], dim=1)
    sums_NP = sums_NP.scatter_add(1, same_NK, (copied_NK - largest_NP.gather(1, same_NK)).exp())
    return (largest_NP + sums_NP.clamp_min(1e-30).log()).masked_fill(sums_NP == 0, NEVER)


def _log_mean(scores: list[Tensor]) -> Tensor:
    """Return the log of the mean of probabilities given by their logs, finite where one of those is."""
    return torch.stack(scores).logsumexp(0) - math.log(len(scores))


def computes_bfloat16() -> bool:
    """Return whether this CPU has instructions for bfloat16: without them it is slow, or not possible at all."""
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # torch has it since 2.10
    return bool(known.get("avx512_bf16") or known.get("amx_bf16"))


def pick_device(name: str = "auto", bfloat16: bool = False) -> torch.device:
    """Return the device ``name``, or the best one there is for ``auto``; with ``bfloat16`` one that can compute so."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"the device is {name}, but torch sees no GPU here; expected cpu")
    if bfloat16 and device.type == "cpu" and not computes_bfloat16():
        raise InputError("bfloat16: this CPU has no instructions for it; expected false, or a GPU")
    if device.type == "cuda":
        # cuDNN's attention builds a plan for every new shape (milliseconds each), and no two batches here are alike.
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device
