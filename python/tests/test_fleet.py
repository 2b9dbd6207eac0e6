"""Fleets in Python."""

import os

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


@pytest.fixture
def s3(monkeypatch):
    """The URL of a server that speaks S3, with a bucket, on this machine."""
    reason = "an S3 server takes moto[s3], flask, flask-cors and s3fs: pip install 'ftlab[dev]'"
    server = pytest.importorskip("moto.server", reason=reason, exc_type=ImportError)
    pytest.importorskip("s3fs", reason=reason)
    for name, value in {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NO_PROXY", ",".join(filter(None, [os.environ.get("NO_PROXY"), "127.0.0.1"])))
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


def test_a_fleet_is_written_to_s3_and_again(tmp_path, s3):
    import fsspec
    import pyarrow.dataset as ds

    system = fsspec.filesystem("s3", endpoint_url=s3, skip_instance_cache=True)
    system.mkdir("fleets")
    ask = (MADE_UP, ["1r-greedy", "2r-fifo"])
    for op in ("25%", "30%"):
        fleet = ftlab.fleet(*ask, tmp_path / op, select="all", op=[op])
        fleet.write_dataset("s3://fleets/one", endpoint_url=s3)
    system.invalidate_cache()
    back = ds.dataset("fleets/one", filesystem=system, format="parquet", partitioning="hive").to_table()
    # Parts have the same names, so that those of the second fleet replace those of the first.
    assert back.num_rows == 20
    assert set(back.column("op_asked").to_pylist()) == {0.3}
    columns = ["volume", "ftl", "page_writes"]
    told, kept = (rows.select(columns).to_pylist() for rows in (fleet.to_arrow(), back))
    by_name = [sorted(rows, key=lambda row: (row["volume"], row["ftl"])) for rows in (told, kept)]
    assert by_name[0] == by_name[1]


def test_a_bucket_that_does_not_exist_is_named_and_not_made(tmp_path, s3):
    import fsspec

    system = fsspec.filesystem("s3", endpoint_url=s3, skip_instance_cache=True)
    fleet = ftlab.fleet(MADE_UP, ["1r-greedy"], tmp_path / "out", select="all", op=["25%"])
    with pytest.raises(ftlab.errors.ParameterError, match="no bucket 'flets'"):
        fleet.write_dataset("s3://flets/one", endpoint_url=s3)
    assert not system.exists("flets")


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
