"""Fleets in Python."""

import pytest
from distributed import Client, LocalCluster

import ftlab

MADE_UP = "fleet:volumes=10,scale=0.00003"


def test_a_fleet_has_a_row_for_each_run(tmp_path):
    fleet = ftlab.fleet(MADE_UP, ["1r-greedy", "sepbit"], tmp_path / "out", select="all", op=["25%"])
    table = fleet.to_pandas()
    assert (len(table), fleet["volumes"], fleet["baseline"]) == (20, 10, "1r-greedy")
    assert set(table["ftl"]) == {"1r-greedy", "sepbit"}
    evidence = table[table["state"] == "evidence"]
    assert (evidence["headline_waf"] >= 1).all()
    assert "drive writes" in fleet.trust
    assert "sepbit" in repr(fleet)


def test_a_fleet_of_a_cluster_is_the_same(tmp_path):
    question = (MADE_UP, ["1r-greedy", "2r-fifo"])
    here = ftlab.fleet(*question, tmp_path / "here", select="all", op=["25%"])
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        there = ftlab.fleet(*question, tmp_path / "there", select="all", op=["25%"], client=client, parts=3)
    assert here.to_arrow().equals(there.to_arrow())


def test_a_fleet_is_written_where_fsspec_leads(tmp_path):
    import fsspec
    import pyarrow.dataset as ds

    fleet = ftlab.fleet(MADE_UP, ["1r-greedy", "2r-fifo"], tmp_path / "out", select="all", op=["25%"])
    fleet.write_dataset("memory://fleets/one")
    system = fsspec.filesystem("memory")
    back = ds.dataset("/fleets/one", filesystem=system, format="parquet", partitioning="hive").to_table()
    assert back.num_rows == 20
    assert sorted(set(back.column("ftl").to_pylist())) == ["1r-greedy", "2r-fifo"]


def test_what_cannot_be_asked_says_what_can(tmp_path):
    with pytest.raises(ftlab.errors.ParameterError, match="no FTL is named"):
        ftlab.fleet(MADE_UP, [], tmp_path)
    with pytest.raises(ftlab.errors.ParameterError, match="did you mean"):
        ftlab.fleet(MADE_UP, ["sepbitt"], tmp_path)
    with pytest.raises(ftlab.errors.ParameterError, match="one way"):
        ftlab.fleet([ftlab.Trace("a", format="msr"), "b"], ["sepbit"], tmp_path)


def test_volumes_that_share_a_drive(tmp_path):
    fleet = ftlab.fleet(
        MADE_UP, ["1r-greedy"], tmp_path, select="all", op=["25%"], pack=8, by=["lifetime", "random:draws=2"]
    )
    orders = [of["packed_by"] for of in fleet["ftls"]]
    assert orders == ["lifetime", "random"]
    assert len(fleet["ftls"][1]["waf_of_draws"]) == 2
    rows = fleet.to_arrow().to_pylist()
    assert {row["packed_by"] for row in rows} == {"lifetime", "random"}
    packed = sum(row["volumes_on_drive"] for row in rows if row["packed_by"] == "lifetime")
    assert packed == fleet["selected"]
    with pytest.raises(ftlab.errors.ParameterError, match="lifetime, size"):
        ftlab.fleet(MADE_UP, ["1r-greedy"], tmp_path, pack=8, by=["age"])
