"""The network that a run of RISE begins with: a pretrained encoder's, or that of a model it goes on from."""

from collections.abc import Sequence
from dataclasses import replace

from riseq.core.phrases import PhraseVocabulary
from riseq.model.backbone import cut_layers, initialise, load_backbone, start_phrases
from riseq.model.checkpoint import Checkpoint, load_trained
from riseq.model.folder import read_direction
from riseq.model.inputs import ContextWindow
from riseq.model.network import NetworkConfig, RiseNetwork
from riseq.train.corpus import learn_templates
from riseq.train.settings import RiseSettings
from riseq.types import Example, InputError


def begin(
    settings: RiseSettings, phrases: PhraseVocabulary, came: Sequence[Example], window: ContextWindow
) -> Checkpoint:
    """Return the network that a run begins with, with its pieces, phrases and templates: its start's, or the data's."""
    return _go_on(settings, phrases, came, window) if settings.start else _begin_anew(settings, phrases, came, window)


def _begin_anew(
    settings: RiseSettings, phrases: PhraseVocabulary, came: Sequence[Example], window: ContextWindow
) -> Checkpoint:
    backbone = load_backbone(settings.backbone, settings.keep_layers)
    pieces = backbone.pieces
    templates = learn_templates(came, phrases, pieces, window, settings.copies, settings.templates)
    config = NetworkConfig(
        backbone.config,
        len(phrases),
        settings.decoder_layers,
        settings.decoder_input,
        settings.dropout,
        settings.grounded,
        settings.joint,
        settings.beside,
        settings.stops,
        settings.copies,
        len(templates) - 1,
    )
    network = RiseNetwork(config, pieces.cls_id)
    initialise(network, backbone, [pieces.encode(phrase) for phrase in phrases])
    return Checkpoint(network, phrases, pieces, {}, templates)


def _go_on(
    settings: RiseSettings, phrases: PhraseVocabulary, came: Sequence[Example], window: ContextWindow
) -> Checkpoint:
    """Return the network of ``start``; a model of the other direction leaves its phrases behind."""
    begun = load_trained(str(settings.start))
    shape, state = begun.network.config, begun.network.state_dict()
    if settings.keep_layers is not None:
        state = cut_layers(state, settings.keep_layers, shape.backbone.layers, "encoder.layers.")
        shape = replace(shape, backbone=replace(shape.backbone, layers=len(settings.keep_layers)))
    if settings.keep_decoder is not None:
        state = cut_layers(state, settings.keep_decoder, shape.decoder_layers, "decoder.", "keep_decoder")
        shape = replace(shape, decoder_layers=len(settings.keep_decoder))
    for name in ("decoder_layers", "decoder_input"):
        if getattr(shape, name) != getattr(settings, name):
            raise InputError(f"{settings.start}: {name} is {getattr(shape, name)}, the run's {getattr(settings, name)}")
    for name in ("copies", "low_rank"):
        had, wanted = getattr(shape, name), getattr(settings, name)
        if had and wanted not in (0, had):
            raise InputError(f"{settings.start}: {name} is {had}, the run's {wanted}")
    if settings.templates and settings.templates < shape.templates:
        raise InputError(f"{settings.start}: templates is {shape.templates}, the run's {settings.templates}")
    turned = read_direction(begun.facts) != settings.direction
    phrases = phrases if turned else begun.phrases
    copies = shape.copies or settings.copies
    templates = begun.templates
    if not shape.templates:
        templates = learn_templates(came, phrases, begun.pieces, window, copies, settings.templates)
    shape = replace(
        shape,
        phrases=len(phrases),
        dropout=settings.dropout,
        conditioned=shape.conditioned or settings.grounded,
        joint=shape.joint or settings.joint,
        beside=shape.beside or settings.beside,
        stops=shape.stops or settings.stops,
        copies=copies,
        templates=len(templates) - 1,
        low_rank=shape.low_rank or settings.low_rank,
        phrase_rank=shape.phrase_rank if shape.low_rank or turned else settings.low_rank,
    )
    network = RiseNetwork(shape, begun.pieces.cls_id)
    if turned:
        state = {name: weight for name, weight in state.items() if not name.startswith("phrase_head.")}
    network.load_state_dict({**network.state_dict(), **state})  # what is new adds nothing yet
    if turned:
        start_phrases(network, [begun.pieces.encode(phrase) for phrase in phrases])
    return Checkpoint(network, phrases, begun.pieces, begun.facts, templates)
