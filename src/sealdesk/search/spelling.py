"""Words with one wrong letter, and what was meant by them; no IO."""

from collections import Counter
from collections.abc import Iterable, Sequence

from sealdesk.search.rules import Term

_MIN_LENGTH = 4  # of a word that is corrected: shorter ones are near too many others
_MAX_CORRECTED = 2


def correct(terms: Sequence[Term], texts: Iterable[str]) -> list[Term] | None:
    """The terms with words of these texts in place of words that none of them contains.

    texts: words separated by spaces. None when there is nothing to correct, or too much.
    """
    counts = Counter(word for text in texts for word in {*text.split()})
    corrected, changed = [], 0
    for term in terms:
        nearest = None if _is_known(term, counts) else _nearest(term, counts)
        changed += nearest is not None
        corrected.append(term if nearest is None else Term((nearest,)))
    return corrected if 0 < changed <= _MAX_CORRECTED else None


def _is_known(term: Term, counts: Counter[str]) -> bool:
    (word, *others) = term.words
    # Another number is not what was meant by a number.
    is_one_word = not others and not term.is_not and len(word) >= _MIN_LENGTH and word.isalpha()
    if not is_one_word or word in counts:
        return True
    return term.is_prefix and any(known.startswith(word) for known in counts)


def _nearest(term: Term, counts: Counter[str]) -> str | None:
    """The most frequent word that differs in one letter; None when there is none."""
    word = term.words[0]
    near = [(-counts[each], each) for each in counts if is_near(word, each)]
    return min(near)[1] if near else None


def is_near(one: str, other: str) -> bool:
    """Whether two words differ in one letter: another, one more, one less, or two exchanged."""
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) > 1 or one == other:
        return False
    first = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    if len(shorter) < len(longer):
        return shorter[first:] == longer[first + 1 :]
    is_exchange = shorter[first : first + 2] == longer[first : first + 2][::-1]
    rest = first + (2 if is_exchange else 1)
    return shorter[first + 1 :] == longer[first + 1 :] or shorter[rest:] == longer[rest:]
