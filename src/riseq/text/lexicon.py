"""Words that carry what a text is about, as opposed to those that hold it together.

A content word is a word with a letter or digit that is not of English's closed classes, which are listed here:
articles, pronouns, prepositions, conjunctions, auxiliaries, question words, and a few adverbs and particles.
"""

from __future__ import annotations

from riseq.text.spacing import is_word

_CLOSED = """
a an the
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we us our
ours ourselves they them their theirs themselves one ones this that these those there here
who whom whose which what when where why how whatever whichever whoever
about above across after against along among around as at before behind below beneath beside besides between beyond by
despite down during except for from in inside into like near of off on onto out outside over past per since through
throughout till to toward towards under until up upon via with within without
and but or nor so yet if because although though while whereas than whether then
am is are was were be been being do does did doing done have has had having can could may might must shall should will
would ought
not no any some every each either neither both all another other others else also too very just only even ever again
still already more most much many such same own
s t d ll m re ve n
"""
CLOSED_CLASS = frozenset(_CLOSED.split())


def is_content(form: str) -> bool:
    """Return whether a lower-cased word carries content of its own."""
    return form not in CLOSED_CLASS and is_word(form)


def find_stem(form: str) -> str:
    """Return the form without a plural's s, so that film and films are one word."""
    return form[:-1] if len(form) > 3 and form.endswith("s") else form
