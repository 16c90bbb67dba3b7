"""What a paper prints, or this book says, against what was measured here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.significance import smallest_effect, values_needed
from reproduction.ledger.judgement import NEGATIVE, POSITIVE, Evidence, Range, Verdict, interval_among, judge
from reproduction.pages.tables import in_words

POWER = 0.8
SO_HERE = {
    Verdict.REPRODUCED: "it is so here",
    Verdict.NOT_REPRODUCED: "it is not so here",
    Verdict.UNDECIDED: "it is open",
}


@dataclass(frozen=True)
class Measurement(Evidence):
    """What a paper prints against what was measured here, by the rule of `judge`.

    A number must lie within `tolerance` of the expected one, and so must its confidence interval where it has one;
    `signed` claims a sign; any other condition, on numbers without chance, comes as `holds`. Without one of these there
    is nothing to judge: CHECK FAILED. Of runs that are not `complete` a claim is UNDECIDED, whatever they show so far.
    """

    quantity: str
    printed: str
    measured: float
    expected: float | None = None
    tolerance: float = 0.0
    interval: Interval | None = None
    over: str = ""  # what the interval is over: '4 seeds'
    holds: bool | None = None
    said: str = "printed"  # 'asked', 'claimed' where the number is the book's own
    sign: int = 0  # of a claim about a sign
    size: float | None = None  # the effect printed, of such a claim
    remark: str = ""
    complete: bool = True  # whether all runs are there that were planned; nothing is concluded before
    one_of: int = 1  # so many parts of the claim, see `judge`

    @classmethod
    def signed(
        cls,
        quantity: str,
        printed: str,
        interval: Interval,
        sign: int,
        over: str = "",
        size: float | None = None,
    ) -> Measurement:
        """A claim about a sign, with the size of the effect where one is printed on that side of 0."""
        return cls(quantity, printed, interval.estimate, interval=interval, over=over, sign=sign, size=size)

    @classmethod
    def near(
        cls,
        quantity: str,
        printed: str,
        interval: Interval,
        expected: float,
        tolerance: float,
        over: str = "",
        said: str = "printed",
    ) -> Measurement:
        """A claim about a number with a confidence interval, all of which must lie within `tolerance` of it."""
        return cls(quantity, printed, interval.estimate, expected, tolerance, interval, over, said=said)

    @classmethod
    def of_sign(cls, quantity: str, value: float, sign: int, remark: str = "") -> Measurement:
        """A claim about the sign of a number without chance: of printed ones, mostly."""
        said = "negative" if sign < 0 else "positive"
        return cls(quantity, said, value, holds=sign * value > 0, said="claimed", remark=remark)

    @classmethod
    def counted(cls, quantity: str, count: int, of: int, expected: int | None = None, remark: str = "") -> Measurement:
        """A claim about how many of so many: `expected`, without it more than half."""
        quantity = f"{quantity}, of {of}"
        if expected is None:
            return cls(quantity, "most", count, holds=2 * count > of, said="claimed", remark=remark)
        return cls(quantity, str(expected), count, expected, said="claimed", remark=remark)

    @property
    def claimed(self) -> Range | None:
        """The values for which the claim is true, where it is about a number."""
        if self.sign:
            return POSITIVE if self.sign > 0 else NEGATIVE
        return None if self.expected is None else (self.expected - self.tolerance, self.expected + self.tolerance)

    @property
    def has_confidence(self) -> bool:
        """Whether it is judged by a confidence interval."""
        return self.interval is not None and self.interval.is_confidence and self.holds is None

    def among(self, parts: int) -> Measurement:
        """This as one of so many parts of a claim, see `judge`."""
        return replace(self, one_of=parts)

    @property
    def verdict(self) -> Verdict:
        if self.holds is None and self.claimed is None:
            return Verdict.FAILED
        if not self.complete:
            return Verdict.UNDECIDED
        if self.holds is not None:
            return Verdict.REPRODUCED if self.holds else Verdict.NOT_REPRODUCED
        assert self.claimed is not None
        return judge(self._judged, self.claimed, self.one_of)

    @property
    def _judged(self) -> Interval:
        """By which it is judged: a confidence interval, else the number as one."""
        if self.interval is not None and (self.sign or self.has_confidence):  # of a sign one seed says nothing
            return self.interval
        return Interval(self.measured, self.measured, self.measured)

    @property
    def _waiting(self) -> str:
        return f"only {self.over} are in" if "planned" in self.over else "not all runs that were planned are in"

    def describe(self) -> str:
        """What was printed and measured, and the interval; of one of several parts, or an open one, the verdict."""
        span = "" if self.interval is None else f" {_labelled(self.interval, self.over)}"
        digits = ".6g" if self.interval is None else ".4g"  # as those of the interval
        found = f"recomputed {self.measured:{digits}}{span}"
        if math.isnan(self.measured):
            found = "no whole seed is there yet"
        text = f"{in_words(self.quantity)}: {self.said} {self.printed}, {found}"
        undecided = self.verdict == Verdict.UNDECIDED
        if self.one_of > 1 or undecided:  # alone, it is the claim's
            text += f": {self.verdict}"
        if not self.complete:
            text += f"; {self._waiting}"
        elif undecided and self.interval is not None:
            text += f"; {_could_show(self.interval, self.over, bool(self.sign))}"
        return f"{text}. {in_words(self.remark)}" if self.remark else text

    def number(self) -> str:
        """'0.21 [0.13, 0.29], claimed above 0', '7 of 10, claimed most'; '' where no run is in."""
        if math.isnan(self.measured):
            return ""
        counted = re.search(r", of (\d+)$", self.quantity)
        found = f"{self.measured:g} of {counted[1]}" if counted else f"{self.measured:.3g}"
        if self.interval is not None and not math.isnan(self.interval.low):
            found += f" [{self.interval.low:.3g}, {self.interval.high:.3g}]"
        return (
            f"{found}, claimed {say_range(self.claimed)}"
            if self.sign and self.claimed
            else f"{found}, {self.said} {self.printed}"
        )

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        if not self.complete:
            return self._waiting
        if self.holds is not None or self.claimed is None:
            return f"{self.measured:.6g} where {self.printed} is {self.said}"
        so = self.verdict == Verdict.REPRODUCED
        judged = self._judged if so else interval_among(self._judged, self.one_of)  # as `judge` takes it
        if math.isnan(judged.low):
            return f"{self.measured:.4g} is one value, without an interval"
        if not judged.kind:
            claimed, digits = say_range(self.claimed), ".6g"
            if not so and f"{self.measured:{digits}}" in claimed.split():  # written alike, yet another number
                digits = ".12g"
            return f"{self.measured:{digits}} is {'within' if so else 'not within'} {self._what_is_said}, {claimed}"
        what = f"the interval {_labelled(judged, self.over)}"
        if so:
            return f"{what} is within what is claimed, {say_range(self.claimed)}"
        if self.verdict == Verdict.NOT_REPRODUCED:
            return f"{what} holds nothing of {self._what_is_said}, {say_range(self.claimed)}"
        return f"{what} holds values that are claimed, {say_range(self.claimed)}, and others"

    @property
    def _what_is_said(self) -> str:
        """Near enough to a printed number is ours to say; of a sign the size that is printed does not count."""
        if self.sign:
            return "what is claimed"
        ours = self.said == "printed" and self.tolerance > 0
        return f"{'our tolerance of ' * ours}what is {self.said}"

    def _means(self) -> str:
        named = f"{in_words(self.quantity)}: " if self.quantity else ""
        return f"{SO_HERE[self.verdict]}: {named}{self.reason}"

    def _changes(self) -> str:
        if not self.complete:
            return "the runs that are planned and not there yet"
        if self.holds is not None or not (self._judged.kind or math.isnan(self._judged.low)):
            return f"another number, computed or {self.said}: no chance is in it"
        if self.verdict == Verdict.REPRODUCED:
            return "data whose interval is not wholly within what is claimed"
        if self.verdict == Verdict.NOT_REPRODUCED:
            return f"data whose interval holds some of {self._what_is_said}"
        return f"more data: {self._could_decide(self._judged)}"

    def _could_decide(self, interval: Interval) -> str:
        """Which effect would show now, and how many values would show the one that is printed, or found."""
        assert self.claimed is not None
        if math.isnan(interval.low):
            return "of one value there is no interval"
        now, degrees = _could_show(interval, self.over, bool(self.sign)), interval.degrees or 0
        counted = not self.over or self.over.startswith(f"{1 + degrees:g} ")  # else it is over more
        if interval.kind != "t" or degrees < 2 or not counted:
            return now
        found = min(abs(interval.estimate - end) for end in self.claimed if math.isfinite(end))
        effect, whose = (found, "found") if self.size is None else (abs(self.size), self.said)
        needed = values_needed(interval, effect, POWER)
        if needed is None or needed <= 1 + degrees:
            return now
        unit = self.over.removeprefix(f"{1 + degrees:g} ").partition(" alone")[0] or "values"
        return f"{now}; the {effect:.2g} that is {whose} would show with about {needed:,} {unit}"


def say_range(values: Range, digits: str = ".6g") -> str:
    """'above 0', 'below 0', '0.9 to 1.1', '2'."""
    low, high = values
    if values in (POSITIVE, NEGATIVE):
        return "above 0" if values == POSITIVE else "below 0"
    from_, to = f"{low:{digits}}", f"{high:{digits}}"
    return f"{from_} to {to}" if from_ != to else to


def _labelled(interval: Interval, over: str) -> str:
    """'[-0.46, 0.35] (95 % t interval, 4 seeds)'."""
    if math.isnan(interval.low):
        return f"(no interval{', ' * bool(over)}{over})"
    name = interval.kind
    if name != "min to max":
        name = f"{100 * interval.level:.4g} % {name} interval"
    return f"[{interval.low:.4g}, {interval.high:.4g}] ({name}{', ' * bool(over)}{over})"


def _could_show(interval: Interval, over: str, sign: bool) -> str:
    """'with 4 seeds an effect of 0.34 or more would show (power 80 %)'."""
    if interval.kind != "t":
        return "no interval says what could have been shown"
    what = "an effect" if sign else "a distance from what is claimed"
    smallest = smallest_effect(interval, POWER)
    if interval.within is not None and sign and smallest > max(map(abs, interval.within)):
        return f"with {over or 'these data'} no effect that it can have would show (power {100 * POWER:g} %)"
    guess = "; the spread of two values is a guess" if interval.degrees == 1 else ""
    return f"with {over or 'these data'} {what} of {smallest:.2g} or more would show (power {100 * POWER:g} %{guess})"
