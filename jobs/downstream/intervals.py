"""Intervals over seeds."""
import numpy as np
from scipy import stats


def interval(values):
    """Mean, and half of the 95 % interval of Student's t; NaN for a single value."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return float(values.mean()), np.nan
    return float(values.mean()), float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
