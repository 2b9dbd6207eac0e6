"""Curves in Python."""

import pytest

import ftlab

DRIVE = ftlab.Drive("256MiB", pages_per_block=128)


def test_a_curve_is_a_data_frame_with_intervals():
    ask = {"drive": DRIVE, "op": ["10%", "28%"], "once": True}
    sampled = ftlab.curve("hotcold", ["1r-greedy", "sepbit"], sample="1/2", **ask)
    table = sampled.to_pandas()
    assert list(table["ftl"]) == ["1r-greedy"] * 2 + ["sepbit"] * 2
    assert ((table["low"] < table["waf"]) & (table["waf"] < table["high"])).all()
    assert (table["samples"] == 4).all()
    whole = ftlab.curve("hotcold", "sepbit", **ask).to_arrow()
    assert whole.column("low").null_count == 2
    of_sepbit = table[table["ftl"] == "sepbit"]["waf"]
    assert list(of_sepbit) == pytest.approx(whole.column("waf").to_pylist(), rel=0.05)
    assert "sepbit on 2 drives" in repr(sampled)
    assert sampled.trust.startswith("Rests on")
    assert sampled.caveats == [] or "samples" in sampled.caveats[0]


def test_what_cannot_be_drawn_says_what_can():
    with pytest.raises(ftlab.errors.ParameterError, match="such as 1/32"):
        ftlab.curve("hotcold", sample="3%", drive=DRIVE)
    with pytest.raises(ftlab.errors.ParameterError, match="path of a trace"):
        ftlab.curve([1, 2, 3])
    with pytest.raises(ftlab.errors.ParameterError, match="argument op"):
        ftlab.curve("hotcold", drive=ftlab.Drive("1GiB", op="7%"))
