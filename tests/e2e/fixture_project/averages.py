"""Averages of measured values."""


def mean(values: list[float]) -> float:
    """The arithmetic mean; raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    return sum(values) / (len(values) - 1)


def median(values: list[float]) -> float:
    """The middle value, or the mean of the two in the middle; raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
