"""Units, months and numbers in words, each form with what it stands for."""

from __future__ import annotations


def _forms(block: str) -> dict[str, str]:
    """The first form of a group stands for all."""
    groups = [group.split() for group in block.split(",")]
    return {form: group[0] for group in groups for form in group}


UNITS = _forms(
    """ms millisecond milliseconds msec, s second seconds sec secs, min minute minutes mins, h hour hours hr hrs, day
    days, week weeks wk, month months, year years yr yrs, byte bytes, kb kilobyte kilobytes kib, mb megabyte
    megabytes mib, gb gigabyte gigabytes gib, tb terabyte terabytes tib, % percent pct, $ usd dollar dollars, € eur
    euro euros, £ gbp pound pounds, px pixel pixels, bit bits, mm millimeter millimeters, cm centimeter centimeters,
    m meter meters metre metres, km kilometer kilometers kilometres, kg kilogram kilograms, am a.m, pm p.m"""
)

MONTHS = _forms(
    """january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september sep sept,
    october oct, november nov, december dec"""
)

NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14",
    "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000", "dozen": "12", "twice": "2",
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7",
    "eighth": "8", "ninth": "9", "tenth": "10",
}  # fmt: skip
