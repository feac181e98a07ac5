"""From measured times to what a policy says. Pure functions; times are microseconds a call by size."""
import math

TOLERANCE = 0.02  # times closer than this are equal, and the setting with the fewest CTAs counts
ROW_PRICE = 0.03  # what one more row must gain, summed over the sizes, as a share of the time


def threshold(small, large):
    """(size, regret): the T up to and including which `small` serves, `large` beyond; that of the least regret.

    Regret is the sum over all sizes of ln(time / the better one's time). A size that only one of the two was
    measured at is served by that one. None: `large` is better from the least size on.
    """
    sizes = sorted(set(small) | set(large))
    best = (math.inf, None)
    for limit in [None] + [size for size in sizes if size in small]:
        regret = 0.0
        for size in sizes:
            times = [times[size] for times in (small, large) if size in times]
            wanted = small if limit is not None and size <= limit else large
            if size not in wanted:
                if wanted is large:  # a capacity ends `small`, not `large`: this limit is too low
                    regret = math.inf
                continue
            regret += math.log(wanted[size] / min(times))
        if regret <= best[0] + 1e-12:
            best = (min(regret, best[0]), limit)
    return best[1], best[0]


def joined(small, large, limit):
    """Times of the one that serves."""
    times = dict(large)
    times.update({size: time for size, time in small.items() if limit is not None and size <= limit})
    return times


def ranges(sizes, measured, ctas):
    """[(first size, last size, setting)], in order: the fewest rows that are as fast as the tolerance asks.

    `measured` has {size: time} for each setting; `ctas(setting)` breaks ties. A setting that lacks a size
    serves no range that holds it.
    """
    sizes = sorted(size for size in sizes if any(size in times for times in measured.values()))
    least = {size: min(times[size] for times in measured.values() if size in times) for size in sizes}

    def price(setting, chosen):
        times = measured[setting]
        if any(size not in times for size in chosen):
            return None
        slow = sum(max(0.0, math.log(times[size] / least[size] / (1 + TOLERANCE))) for size in chosen)
        return round(slow, 6), ctas(setting) * len(chosen), round(sum(times[s] / least[s] for s in chosen), 6)

    best = [((0.0, 0, 0.0), [])]  # of the first k sizes
    for end in range(1, len(sizes) + 1):
        options = []
        for begin in range(end):
            if best[begin] is None:
                continue
            before, rows = best[begin]
            for setting in measured:
                cost = price(setting, sizes[begin:end])
                if cost is not None:
                    total = (round(before[0] + cost[0] + ROW_PRICE, 6), before[1] + cost[1], before[2] + cost[2])
                    options.append((total, rows + [(sizes[begin], sizes[end - 1], setting)]))
        best.append(min(options, key=lambda option: option[0]) if options else None)
    return best[-1][1] if best[-1] else []
