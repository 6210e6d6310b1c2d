"""Small tables with something to learn in them."""

import numpy as np
import pandas as pd


def mixed_table(n=180, seed=3):
    """Return customers with every kind of column, gaps, and a class ``churn`` that some columns tell about."""
    rng = np.random.default_rng(seed)
    joined = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    seen = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 90_000, n), unit="min")
    frame = pd.DataFrame(
        {
            "customer_id": np.arange(1000, 1000 + n),
            "age": rng.integers(18, 80, n).astype(float),
            "city": rng.choice(["Bern", "Basel", "Zürich"], n),
            "street": [f"street {i}" for i in rng.integers(0, 70, n)],
            "joined": joined.strftime("%Y-%m-%d"),
            "seen": seen.strftime("%d.%m.%Y %H:%M"),
            "member": rng.choice(np.array([True, False], dtype=object), n),
            "note": [" ".join(rng.choice(["good", "late", "very", "order", "paid", "refund"], 6)) for _ in range(n)],
            "empty": np.nan,
        }
    )
    score = (frame["age"] - 48) / 12 + 1.2 * (frame["city"] == "Bern") + frame["note"].str.count("refund") - 1.2
    frame["churn"] = np.where(score + rng.normal(0, 0.5, n) > 0, "yes", "no")
    frame.loc[::7, "age"] = np.nan
    frame.loc[3::11, ["city", "member"]] = None
    frame.loc[5::50, "churn"] = None
    return frame


def numeric_table(n=80, seed=0):
    """Return houses whose price is nearly linear in two columns."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.uniform(30, 200, n).round(1), "age": rng.uniform(0, 90, n).round(1)})
    frame["price"] = (3 * frame["size"] - frame["age"] + rng.normal(0, 10, n)).round(2)
    return frame
