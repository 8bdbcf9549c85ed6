"""Words that say little about a text's topic, by the name that `BagOfWords` accepts as
``stop_words``.

The English list is the one of the Glasgow Information Retrieval Group, word for word as
scikit-learn uses it, so that both count the same words. A list of stop words is a decision about
the data: this one holds accidents of its age such as "bill", "fire" and "sincere". Lesson
``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core import check_choice, shown
from .normalise import check_text

__all__ = ["ENGLISH", "checked_stop_words"]

_ENGLISH = """
    a about above across after afterwards again against all almost alone along already also although
    always am among amongst amoungst amount an and another any anyhow anyone anything anyway
    anywhere are around as at back be became because become becomes becoming been before beforehand
    behind being below beside besides between beyond bill both bottom but by call can cannot cant co
    con could couldnt cry de describe detail do done down due during each eg eight either eleven
    else elsewhere empty enough etc even ever every everyone everything everywhere except few
    fifteen fifty fill find fire first five for former formerly forty found four from front full
    further get give go had has hasnt have he hence her here hereafter hereby herein hereupon hers
    herself him himself his how however hundred i ie if in inc indeed interest into is it its itself
    keep last latter latterly least less ltd made many may me meanwhile might mill mine more
    moreover most mostly move much must my myself name namely neither never nevertheless next nine
    no nobody none noone nor not nothing now nowhere of off often on once one only onto or other
    others otherwise our ours ourselves out over own part per perhaps please put rather re same see
    seem seemed seeming seems serious several she should show side since sincere six sixty so some
    somehow someone something sometime sometimes somewhere still such system take ten than that the
    their them themselves then thence there thereafter thereby therefore therein thereupon these
    they thick thin third this those though three through throughout thru thus to together too top
    toward towards twelve twenty two un under until up upon us very via was we well were what
    whatever when whence whenever where whereafter whereas whereby wherein whereupon wherever
    whether which while whither who whoever whole whom whose why will with within without would yet
    you your yours yourself yourselves
"""
ENGLISH = frozenset(_ENGLISH.split())


def checked_stop_words(stop_words: str | Iterable[str] | None) -> frozenset[str]:
    """The stop words as a set: of a named list ("english"), of a collection of words, or empty for
    None. Raises ValueError for an unknown name, TypeError for anything but words."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        check_choice("stop_words", stop_words, ["english"])
        return ENGLISH
    once = isinstance(stop_words, Iterator)
    if once or not isinstance(stop_words, Iterable) or isinstance(stop_words, bytes):
        remedy = ". An iterator can be read only once: pass a list" if once else ""
        raise TypeError(f"stop_words={shown(stop_words)} is {type(stop_words).__name__}; expected "
                        f"'english', a list of words, or None{remedy}")
    words = list(stop_words)
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"stop_words[{i}]={shown(word)} is {type(word).__name__}; expected a "
                            "word (str)")
        check_text(f"stop_words[{i}]", word)
    return frozenset(words)
