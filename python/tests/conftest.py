import signal

import pytest

import ftlab

SMALL = ftlab.Drive(logical_pages=8192, pages_per_block=32)


@pytest.fixture
def small():
    """A drive on which a run takes no time."""
    return SMALL


@pytest.fixture(scope="session")
def observed():
    """A result of which everything can be drawn."""
    return ftlab.run(
        "zipf:theta=0.9",
        ["1r-greedy", "2r++"],
        drive=SMALL,
        fill="random",
        timing="slc",
        endurance=3000,
        observe=True,
    )


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory):
    """Keep nothing in the cache of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def interrupts():
    """Let SIGINT raise KeyboardInterrupt, also where a shell started the tests with it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
