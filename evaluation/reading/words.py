"""Text as 64-bit words: eight bytes of many tokens at once, and their numbers.

A run is mostly digits, which Python would read line by line. Here the same eight bytes of every
token form one array of 64-bit words, and arithmetic on a word works on its eight characters in
parallel. The first character is the lowest byte (little-endian).

    >>> text = Text(b"0.25 17 -3.5e1")
    >>> starts, ends = np.array([0, 5, 8]), np.array([4, 7, 14])
    >>> text.tokens(starts, ends - starts).tobytes()
    b'0.25\\x00\\x00\\x00\\x0017\\x00\\x00\\x00\\x00\\x00\\x00-3.5e1\\x00\\x00'
    >>> text.decimals(starts, ends).tolist()
    [0.25, 17.0, -35.0]
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluation.reading.columns import DECIMAL

BoolArray = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]

WORD = 8
LONGEST_DECIMAL = 64
MOST_DIGITS = 19
# Words before the end of a decimal, which most decimals fit into.
LAST_WORDS = 3
LISTED = re.compile(rb"(?:%b\n)+" % DECIMAL.pattern)

EACH = 0x0101010101010101
HIGH_BITS = 0x80 * EACH
ZEROS = ord("0") * EACH
# Masks of the first n bytes of a word, and of the last n.
FIRST = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)
LAST = ~FIRST[::-1]
# For each of the last words, masks of those of the last n bytes that are in it.
SUFFIXES = [
    LAST[np.clip(np.arange(LAST_WORDS * WORD + 1) - WORD * place, 0, WORD)]
    for place in reversed(range(LAST_WORDS))
]
TENS = 10 ** np.arange(MOST_DIGITS + 1, dtype=np.uint64)
FIVES = 5 ** np.arange(MOST_DIGITS + 1, dtype=np.uint64)
# How far 5^d * 2^s times a number may be from a 32-bit float, so that no 64-bit float is nearer.
HALVES = ((FIVES - 1) >> 30).astype(np.int64)
EXACT_TENS = TENS.astype(np.float64)
EXACT = 1 << 53
# x86 has floats of 64 significant bits, some machines more; without such floats, `float` is used.
LONG = np.longdouble
LONG_BITS = np.finfo(LONG).nmant + 1


class Unclear(ValueError):
    """The text cannot be read by the word; it may still be valid."""


class Text:
    """Bytes of a file with padding on both sides, so that words may reach beyond its ends."""

    ROOM = 8 * WORD

    def __init__(self, data: bytes) -> None:
        self.padded = np.frombuffer(bytes(self.ROOM) + data + bytes(self.ROOM), np.uint8)
        self.bytes = self.padded[self.ROOM : self.ROOM + len(data)]

    @classmethod
    def within(cls, padded: Bytes, end: int) -> Text:
        """Return the text in a buffer between `ROOM` and `end`, without copying it."""
        text = cls.__new__(cls)
        text.padded, text.bytes = padded, padded[cls.ROOM : end]
        return text

    def __len__(self) -> int:
        return len(self.bytes)

    def count(self, byte: int) -> int:
        return int(np.count_nonzero(self.bytes == byte))

    def token(self, start: int, end: int) -> bytes:
        return self.bytes[start:end].tobytes()

    def around(self, places: Places, before: int, behind: int) -> Words:
        """Return the words before and after each place: uint64[n, width].

        A view with a record at every byte makes this a single gather. Most of its cost is finding
        the place, so two columns around one blank cost no more than one of them.
        """
        size = (before + behind) * WORD
        start = self.ROOM - before * WORD
        count = len(self.padded) - start - size + 1
        every = np.ndarray((count,), f"V{size}", self.padded, start, (1,))
        words: Words = every[places].view(np.uint64).reshape(-1, before + behind)
        return words

    def tokens(self, starts: Places, lengths: Places) -> Words:
        """Return each token in words, padded with zeros: uint64[n, width of the longest]."""
        longest = int(lengths.max(initial=0))
        width = max(1, -(-longest // WORD))
        if width > 4:
            return self._long_tokens(starts, lengths, width)
        words = self.around(starts, 0, width)
        if lengths.min(initial=longest) < longest:
            words &= prefix_masks(width).take(lengths, axis=0)
        else:
            words[:, -1] &= FIRST[longest - WORD * (width - 1)]
        return words

    def _long_tokens(self, starts: Places, lengths: Places, width: int) -> Words:
        columns = [
            self.around(np.minimum(starts + WORD * place, len(self.bytes)), 0, 1)[:, 0]
            & FIRST[np.clip(lengths - WORD * place, 0, WORD)]
            for place in range(width)
        ]
        return np.stack(columns, axis=1)

    def tokens_before(self, ends: Places, lengths: Places) -> tuple[Words, Words]:
        """Return each token like `tokens`, and the eight bytes after it: uint64[n]."""
        if lengths.max(initial=0) > WORD:
            return self.tokens(ends - lengths, lengths), self.around(ends, 0, 1)[:, 0]
        around = self.around(ends, 1, 1)
        shift = (WORD - lengths) * WORD
        return (around[:, 0] >> shift.view(np.uint64))[:, None], around[:, 1]

    def before_ending(self, ends: Places, ending: bytes, before: int) -> Words | None:
        """Return as many words before each end if these bytes follow all ends; else None."""
        width = -(-len(ending) // WORD)
        around = self.around(ends, before, width)
        wanted = np.frombuffer(ending.ljust(width * WORD, b"\0"), np.uint64)
        # One column after the other: rows of so few words take numpy ten times as long.
        for place in range(width):
            differ = int(np.bitwise_or.reduce(around[:, before + place] ^ wanted[place]))
            if differ & int(FIRST[min(len(ending) - WORD * place, WORD)]):
                return None
        return around[:, :before]

    def blanks_before(self, last: Words, ends: Places) -> Places:
        """Return the last byte up to the blank before each end; `last` are the words before it.

        Raises `Unclear` if one is not among them.
        """
        distance: Bytes = np.zeros(len(ends), np.uint8)
        for looked, words in enumerate(last.T[::-1]):
            marks = blanks_in(words)
            missing = distance == WORD * looked
            distance += (np.bitwise_count((marks - 1) & ~marks) >> 3) * missing
            if distance.max() < WORD * (looked + 1):
                return ends - 1 - distance
        raise Unclear("a long token")

    def naturals(self, starts: Places, ends: Places) -> Words:
        """Read tokens of digits as numbers, 0 if empty; raise `Unclear` for any other character.

        The value of a token of over 19 digits is meaningless.
        """
        lengths = ends - starts
        longest = int(lengths.max(initial=0))
        words = self.around(ends, min(max(1, -(-longest // WORD)), 3), 0)
        value = _eight_digits(words[:, -1], np.minimum(lengths, WORD))
        for place in range(1, words.shape[1]):
            rest = np.clip(lengths - WORD * place, 0, WORD)
            more = _eight_digits(words[:, -1 - place], rest)
            value += more * TENS[min(WORD * place, MOST_DIGITS)]
        return value

    def integers(self, starts: Places, ends: Places) -> npt.NDArray[np.int64]:
        """Read integers of up to 18 digits with an optional sign; else raise `Unclear`."""
        first = self.bytes[starts]
        negative = first == ord("-")
        starts = starts + (negative | (first == ord("+")))
        lengths = ends - starts
        if lengths.min(initial=1) < 1 or lengths.max(initial=1) > MOST_DIGITS - 1:
            raise Unclear("an integer without digits, or with too many")
        value = self.naturals(starts, ends).astype(np.int64)
        return np.where(negative, -value, value)

    def decimals(self, starts: Places, ends: Places, last: Words | None = None) -> FloatArray:
        """Read each token like `float`, to the last bit; raise `Unclear` if it is not a decimal.

        `last` are words before each end, two or three, if the caller has them already.

        A number of digits and a point is a natural number m over a power of ten 10^d. Where both
        are exact as floats, m below 2^53 and d at most 22, their quotient is rounded once, as
        in IEEE 754, and so is the nearest float (Clinger 1990). For longer numbers see `_longer`.
        """
        if not len(ends):
            return np.zeros(0)
        last = self.around(ends, LAST_WORDS, 0) if last is None else last
        lengths = ends - starts
        _, has_point, fraction = self.token(int(starts[0]), int(ends[0])).partition(b".")
        if has_point:
            short = _of_eight_digits(last, lengths, len(fraction))
        else:
            short = _of_no_fraction(last, lengths)
        if short is not None:
            return short
        first = self.bytes[starts]
        negative = first == ord("-")
        digits = starts + (negative | (first == ord("+")))
        point = self._points(digits, ends)
        mantissa, hard = _of_many_digits(last, ends - digits, ends - point)
        decimals = np.maximum(ends - point - 1, 0)
        hard |= decimals > MOST_DIGITS
        decimals = np.minimum(decimals, MOST_DIGITS, out=decimals)
        value: FloatArray = mantissa / EXACT_TENS.take(decimals)
        if mantissa.max() >= EXACT:
            long = np.flatnonzero(mantissa >= EXACT)
            value[long], unsure = _longer(mantissa[long], decimals[long], value[long])
            hard[long] |= unsure
        if negative.any():
            np.negative(value, out=value, where=negative)
        if hard.any():
            value[hard] = self.decimals_one_by_one(starts[hard], ends[hard])
        return value

    def _points(self, starts: Places, ends: Places) -> Places:
        """Return the place of the first point of each token; its end if there is none.

        It is mostly behind as many characters as in the first token, or behind a few; those of
        other tokens are searched.
        """
        whole, _, _ = self.token(int(starts[0]), int(ends[0])).partition(b".")
        points = starts + len(whole)
        wrong = np.flatnonzero(~self._are_points(points, ends))
        for length in range(1, 4):
            if not len(wrong):
                return points
            points[wrong] = starts[wrong] + length
            wrong = wrong[~self._are_points(points[wrong], ends[wrong])]
        if len(wrong):
            points[wrong] = self._searched_points(starts[wrong], ends[wrong])
        return points

    def _are_points(self, places: Places, ends: Places) -> BoolArray:
        right: BoolArray = self.bytes.take(places, mode="clip") == ord(".")
        right &= places < ends
        return right

    def _searched_points(self, starts: Places, ends: Places) -> Places:
        lengths = ends - starts
        width = max(1, -(-int(lengths.max()) // WORD))
        if width > 4:
            raise Unclear("a score of absurd length")
        words = self.around(starts, 0, width)
        place = _first_byte(words[:, -1], ord("."))
        for column in range(width - 2, -1, -1):
            here = _first_byte(words[:, column], ord("."))
            place = np.where(here < WORD, here, place + WORD)
        points: Places = starts + np.minimum(place, lengths)
        return points

    def decimals_one_by_one(self, starts: Places, ends: Places) -> FloatArray:
        """Read decimals with exponents or many digits by Python's `float`."""
        tokens = [self.token(*place) for place in zip(starts.tolist(), ends.tolist(), strict=True)]
        if max(map(len, tokens)) > LONGEST_DECIMAL:
            raise Unclear("a score of absurd length")
        if not LISTED.fullmatch(b"\n".join(tokens) + b"\n"):
            raise Unclear("a score that is no decimal")
        value = np.array([float(token) for token in tokens])
        if not np.isfinite(value).all():
            raise Unclear("a score beyond every float")
        return value


@lru_cache(maxsize=8)
def prefix_masks(width: int) -> Words:
    """Return masks that keep the first n bytes of rows of words, for every n: uint64[.., width]."""
    lengths = np.arange(width * WORD + 1)[:, None] - WORD * np.arange(width)
    masks: Words = FIRST[np.clip(lengths, 0, WORD)]
    return masks


def _of_eight_digits(last: Words, lengths: Places, decimals: int) -> FloatArray | None:
    """Read numbers of eight digits with a decimal point; None if one is not such a number.

    `last` are the words before the ends. The digits before the point move one byte up, over the
    point, and are read together with those behind it.
    """
    longest, shortest = int(lengths.max()), int(lengths.min())
    if decimals >= WORD or longest > WORD + 1 or shortest < max(2, decimals + 1):
        return None
    behind = last[:, -1].copy()
    up = behind << 8
    point = 8 * (WORD - 1 - decimals)
    if ((behind & (0xFF << point)) != ord(".") << point).any():
        return None
    if longest > WORD:
        up |= last[:, -2] >> 56
    fraction = LAST[decimals]
    up &= ~fraction
    behind &= fraction
    digits = np.bitwise_or(up, behind, out=up)
    try:
        mantissa = _eight_digits(digits, lengths - 1)
    except Unclear:
        return None
    value: FloatArray = mantissa.view(np.int64) / float(10**decimals)
    return value


def _of_no_fraction(last: Words, lengths: Places) -> FloatArray | None:
    """Read numbers of up to eight digits without a point; None if one is not such a number."""
    if lengths.max() > WORD or lengths.min() < 1:
        return None
    try:
        return _eight_digits(last[:, -1], lengths).astype(np.float64)
    except Unclear:
        return None


def _of_many_digits(last: Words, lengths: Places, behind_whole: Places) -> tuple[Words, BoolArray]:
    """Read numbers of digits with or without a point, as if they had none.

    `last` are the words before the ends; `behind_whole` counts the bytes from the point on. Also
    returns which of them cannot be read so: they have other characters, none, or too many.
    As in `_of_eight_digits`, the digits before the point move one byte up.
    """
    most = last.shape[1] * WORD
    hard = lengths > most
    # Without a point nothing moves.
    fraction = np.where(behind_whole > 0, np.minimum(behind_whole, most) - 1, most)
    count = np.minimum(lengths, most) - (behind_whole > 0)
    hard |= count < 1
    result, odd, above = None, None, None
    for place, suffixes in enumerate(SUFFIXES[-last.shape[1] :]):
        word = last[:, place].copy()
        up = word << 8
        if above is not None:
            up |= above >> 56
        above = word
        digits: Words = np.bitwise_xor(up, word)
        digits &= suffixes.take(fraction)
        digits ^= up
        digits ^= ZEROS
        digits &= suffixes.take(count)
        marks = beyond_nine(digits)
        odd = marks if odd is None else np.bitwise_or(odd, marks, out=odd)
        number = spell_digits(digits)
        if result is None:
            result = number
            if last.shape[1] == LAST_WORDS:
                # Times 10^16, it has to stay a number of 19 digits.
                hard |= number >= 1000
        else:
            result *= 10**WORD
            result += number
    assert result is not None and odd is not None
    odd &= HIGH_BITS
    hard |= odd != 0
    return result, hard


def _eight_digits(word: Words, lengths: Places) -> Words:
    """Read the numbers in the last `lengths` characters of words."""
    digits: Words = np.bitwise_xor(word, ZEROS)
    digits &= LAST.take(lengths)
    if int(np.bitwise_or.reduce(beyond_nine(digits))) & HIGH_BITS:
        raise Unclear("a character that is no digit")
    return spell_digits(digits)


def beyond_nine(digits: Words) -> Words:
    """Return words with a high bit in each byte above 9, into which adding 0x76 carries.

    A byte that has it already may carry into the next, but is marked itself.
    """
    marks = digits + 0x76 * EACH
    marks |= digits
    return marks


def blanks_in(words: Words) -> Words:
    """Return words with a high bit for each byte up to the blank, the last byte lowest."""
    marks: Words = np.bitwise_and(words, 0x7F * EACH)
    marks += (0x80 - 0x21) * EACH
    marks |= words
    marks &= HIGH_BITS
    marks ^= HIGH_BITS
    swapped: Words = marks.byteswap(inplace=True)
    return swapped


def spell_digits(digits: Words) -> Words:
    """Return the numbers of eight digits, given as bytes from 0 to 9 in the words.

    Neighbours are added, ten times the one before to the one behind: eight bytes of one digit,
    four pairs, two numbers of four digits, one of eight (Lemire 2018).
    """
    pairs = digits * 10
    pairs += digits >> 8
    numbers: Words = np.bitwise_and(pairs, 0x000000FF000000FF)
    numbers *= 100 + (1_000_000 << 32)
    pairs >>= 16
    pairs &= 0x000000FF000000FF
    pairs *= 1 + (10_000 << 32)
    numbers += pairs
    numbers >>= 32
    return numbers


def _first_byte(word: Words, byte: int) -> Places:
    """Return the place of the first such byte in each word; 8 if there is none.

    Only a byte that is equal becomes 0, only a 0 borrows into its high bit, and below the first
    borrow nothing is disturbed; so the lowest marked bit is right (Mycroft 1987).
    """
    differ = word ^ (byte * EACH)
    marks = (differ - EACH) & ~differ & HIGH_BITS
    below = (marks & (~marks + 1)) - 1
    places: Places = (np.bitwise_count(below) >> 3).astype(np.intp)
    return places


def _longer(mantissa: Words, decimals: Places, about: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return quotients of up to 19 digits, and which of them are uncertain.

    `about` are the quotients rounded more than once. Most long numbers were 32-bit floats.
    """
    value, proven = _singles(mantissa, decimals, about)
    unsure = np.zeros(len(value), bool)
    left = np.flatnonzero(~proven)
    if len(left):
        value[left], unsure[left] = _rounded_twice(mantissa[left], decimals[left])
    return value, unsure


def _singles(mantissa: Words, decimals: Places, about: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the nearest 32-bit floats, and which of them are certainly the nearest 64-bit floats.

    A float of 32 bits is a * 2^-s, where 2^23 <= a < 2^24. Its distance from m / 10^d, times
    5^d * 2^s, is the integer m * 2^(s - d) - a * 5^d: far below 2^63, and so exact although its
    terms wrap around. Half the space between 64-bit floats, times as much, is 5^d / 2^30. Below
    a power of two there is less space, so a power of two is not certain.
    """
    with np.errstate(over="ignore", under="ignore"):
        singles = about.astype(np.float32)
    bits = singles.view(np.uint32)
    whole = (bits & 0x7FFFFF).astype(np.uint64)
    proven = whole != 0
    whole += 1 << 23
    whole *= FIVES.take(decimals)
    shift = 150 - (bits >> 23).astype(np.intp) - decimals
    proven &= (shift >= 0) & (shift < 64)
    apart = mantissa << (shift.view(np.uint64) & 63)
    apart -= whole
    proven &= np.abs(apart.view(np.int64)) <= HALVES.take(decimals)
    return singles.astype(np.float64), proven


def _rounded_twice(mantissa: Words, decimals: Places) -> tuple[FloatArray, BoolArray]:
    """Return quotients of up to 19 digits, and which of them are uncertain.

    In 64 bits, mantissa and power are exact again and the quotient is rounded once; a second
    rounding, to 53 bits, can be wrong only at a tie, exactly between two floats. Such a quotient
    is uncertain: the rounded value mirrored at it, `across`, is then a float too.
    """
    if LONG_BITS < 64:
        return np.zeros(len(mantissa)), np.ones(len(mantissa), bool)
    quotient = mantissa.astype(LONG) / TENS.astype(LONG)[decimals]
    value = quotient.astype(np.float64)
    across = 2 * quotient - value
    return value, (across != value) & (across.astype(np.float64) == across)
