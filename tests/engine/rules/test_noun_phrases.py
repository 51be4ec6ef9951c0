"""Mentions hang together with what they stand beside, or are not put in."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.noun_phrases import part_noun_phrases
from riseq.text.realise import Copied
from riseq.text.words import forms

CASES = [
    (
        "What is the libretto?",
        "libretto",
        "I like Carmen.",
        "carmen",
        "what is the libretto of carmen ?",
        "a name gets of",
    ),
    ("Was the house filmed?", "house", "I saw Heat.", "heat", "was the house of heat filmed ?", "before a verb too"),
    ("How is the song?", "song", 'I like "Her".', '" her "', 'how is the song " her " ?', "its title"),
    ("How is the last song?", "song", 'I like "Her".', '" her "', 'how is the last song of " her " ?', "one of many"),
    ("Is the album good?", "album", "I like Alien.", "alien", "is the album alien good ?", "a name of that kind"),
    ("How did the case end?", "case", "I saw Heat.", "heat", "how did the case of heat end ?", "before the last verb"),
    ("Is the case old now?", "case", "I saw Heat.", "heat", "is the case heat old now ?", "no verb"),
    ("Do you charge a fee?", "fee", "I like the app.", "the app", "do you charge a fee ?", "two nouns"),
    ("Is there tea for kids?", "kids", "I like Rome.", "rome", "is there tea for kids ?", "a preposition has its noun"),
    ("Any news on leaving?", "leaving", "I like Rome.", "rome", "any news on leaving rome ?", "a verb after all"),
    ("Do you have a song?", "song", "I like Rome.", "rome", "do you have a song rome ?", "what it is called"),
    ("What is the fee?", "fee", "I like the app.", "app", "what is the fee app ?", "no name"),
    (
        "How old is Metropolis?",
        "metropolis",
        "It has live piano.",
        "live piano",
        "how old is metropolis ?",
        "beside a name",
    ),
    ("Should we fill it up?", "up", "Buy the salt.", "the salt", "should we fill it up ?", "a pronoun is the object"),
    ("Could we fill up?", "up", "Buy the salt.", "the salt", "could we fill up the salt ?", "no object yet"),
    ("Had she wanted him to?", "to", "He left the throne.", "the throne", "had she wanted him to ?", "to do what"),
    ("Is this a bus to?", "to", "I like Rome.", "rome", "is this a bus to rome ?", "to where"),
    ("What if it doesn't?", "t", "I see the glass is old.", "the glass is old", "what if it doesn ' t ?", "two verbs"),
    ("How old is Robert?", "robert", "Robert Downey acts.", "downey", "how old is robert downey ?", "one name with it"),
    ("How old is Downey?", "is", "Robert Downey acts.", "robert", "how old is robert downey ?", "or before it"),
    ("How old is Downey?", "is", "Robert Downey and Ed act.", "ed", "how old is downey ?", "another one"),
    ("Was the film good?", "was", "I saw Alien.", "alien", "was the film good ?", "two subjects"),
    ("What did he oppose?", "oppose", "I like war.", "war", "what did he oppose ?", "what is the object"),
    ("How many did he win?", "win", "It was a war.", "a war", "how many did he win ?", "how many is"),
    ("Which can I walk behind?", "behind", "I like Rome.", "rome", "which can i walk behind ?", "the preposition's"),
    ("Where did Ada flee to?", "to", "I like Rome.", "rome", "where did ada flee to ?", "where it is"),
    ("When did he win?", "win", "It was a war.", "a war", "when did he win a war ?", "when is none"),
    ("Was Downey there?", "downey", "It was in May.", "in may", "was downey in may there ?", "not bare"),
]


@pytest.mark.parametrize(("asked", "behind", "said", "phrase", "wanted", "why"), CASES, ids=[case[5] for case in CASES])
def test_mentions_go_with_what_is_beside_them(
    asked: str, behind: str, said: str, phrase: str, wanted: str, why: str
) -> None:
    words, put_in, spoken = [MARKER, *forms(asked)], phrase.split(), forms(said)
    at = words.index(behind)
    first = next(k for k in range(len(spoken)) if spoken[k : k + len(put_in)] == put_in)
    edits = [Edit(Op.INSERT, tuple(put_in)) if k == at else KEEP for k in range(len(words))]
    found, known = part_noun_phrases(asked, words, edits, {at: Copied(0, first, first + len(put_in))}, [said])
    assert " ".join(apply(words, found)[1:]) == wanted, why
    if at in known:
        assert found[at].phrase[known[at].before :] == tuple(put_in)


def test_another_beginning_brings_the_rest_with_it() -> None:
    words = [MARKER, "and", "thursday", "?"]
    edits = [KEEP, Edit(Op.SUBSTITUTE, ("where", "does")), Edit(Op.INSERT, ("come", "from")), KEEP]
    assert part_noun_phrases("And Thursday?", words, edits, {}, [])[0] == edits
