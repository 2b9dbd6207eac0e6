"""Tries measure.sh and `ftlab fit` blind: measures hidden live drives as an owner would, and fits them.

    python3 drives/blind.py OUT FTLAB [SEED]       # after `sudo make setup-guest`; an hour and a half

FTLAB is the program, such as target/release/ftlab. OUT gets the logs and the answer of each drive. What is
there is not repeated.
"""

import base64
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FTLS = [
    "1r-greedy", "fifo", "sep-gc/greedy", "sep-gc/cost-benefit",
    "lfs-cb", "2r-greedy", "sepbit", "dac-greedy",
]  # fmt: skip
MIB = 1 << 20
PAGE = 4096
LOGICAL = 128 * MIB
ZONE_MIB = 16
RESERVE = 4
SKEWED = (
    "fio --name=skewed --rw=randwrite --bs=4k --norandommap --randrepeat=0 --time_based --runtime=1d"
    " --random_distribution=zoned:80/20:20/80"
)

# An owner types the serial number; the rest is what an owner has before.
GUEST = """
ftlab drive create my.drive --size {logical} --ftl {ftl} --blocks {blocks} --pages-per-block {pages} > log
ftlab drive serve my.drive --nvme 127.0.0.1:4420 > log 2>&1 &
until grep -q 'nvme connect' log; do sleep 0.1; done
nvme connect -t tcp -a 127.0.0.1 -s 4420 -n "$(grep -o 'nqn[^ ]*$' log | head -n 1)"
until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
lsblk --nodeps --noheadings --output SERIAL /dev/nvme0n1 | tr -d ' ' |
    SETTLE=1 dash /bin/measure.sh /dev/nvme0n1 series {zone}
echo; echo BEGIN; tar -c -z series | base64; echo END
nvme disconnect-all
kill -INT %1
wait
"""


def draw(seed: int, count: int) -> list[dict]:
    """Each FTL once in random order, then some again."""
    rng = random.Random(seed)
    ftls = []
    while len(ftls) < count:
        ftls += rng.sample(FTLS, len(FTLS))
    drives = []
    for ftl in ftls[:count]:
        over, units = rng.uniform(0.07, 0.30), rng.randint(128, 512)
        pages = round(LOGICAL / PAGE * (1 + over) / units)
        blocks = round(LOGICAL / PAGE * (1 + over) / pages) + RESERVE
        drives.append({"ftl": ftl, "blocks": blocks, "pages": pages})
    return drives


def measure(drive: dict, out: Path, ftlab: str) -> float:
    began = time.monotonic()
    script = GUEST.format(logical=LOGICAL, zone=ZONE_MIB, **drive)
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(script)
        file.flush()
        guest, programs = ROOT / "target/guest", [ftlab, ROOT / "drives/measure.sh"]
        command = [ROOT / "scripts/guest.sh", "run", guest, file.name, *programs]
        with (out / "guest.txt").open("w") as console:
            environment = os.environ | {"GUEST_SECONDS": "3600"}
            subprocess.run(command, stdout=console, stderr=console, check=True, env=environment)
    packed = (out / "guest.txt").read_text(errors="replace").split("\nBEGIN\n")[1].split("\nEND\n")[0]
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as tar:
        tar.extractall(out)
    return time.monotonic() - began


def fit(out: Path, ftlab: str) -> float:
    """The command that measure.sh names, with fewer pages."""
    began = time.monotonic()
    series = out / "series"
    command = [
        ftlab, "fit", series / "fill.log", "fio --name=fill --rw=write --bs=512k",
        "--and", series / "uniform.log", "uniform",
        "--and", series / "zones.log", f"zones:size={ZONE_MIB}MiB",
        "--and", series / "skewed.log", SKEWED,
        "--fill", "none,sequential,none,sequential", "--skip", "0,0,0,1", "--logical", str(LOGICAL),
        "--pages", "65536", "--ftl", ",".join(FTLS), "--json", "--quiet",
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True)
    (out / "fit.txt").write_text(run.stderr)
    run.check_returncode()
    (out / "fit.json").write_text(run.stdout)
    return time.monotonic() - began


def row(index: int, drive: dict, out: Path) -> str:
    """What was hidden, and what was found, in Markdown. Over-provisioning has the reserve in it."""
    answer = json.loads((out / "fit.json").read_text())
    first, bounds = answer["drives"][0], answer["bounds"]
    over = drive["blocks"] * drive["pages"] * PAGE / LOGICAL - 1
    named = [own["candidate"]["ftl"] for own in answer["drives"][: answer["as_good"] or 1]]
    # Nothing is excluded where nothing explains what was measured.
    low, high = bounds["op_ratio"] if bounds else (0.0, float("inf"))
    cells = [
        index, f"`{drive['ftl']}`", drive["blocks"], f"{over:.1%}", f"{answer['series'][1]['waf']:.2f}",
        f"`{named[0]}`", f"{first['op_ratio']:.1%}", f"{low:.1%} to {high:.1%}",
        "yes" if low <= over <= high else "no",
        f"{named.index(drive['ftl']) + 1} of {len(named)}" if drive["ftl"] in named else f"no, {len(named)}",
        f"{first['distance']['rms']:.1%}", answer["verdict"],
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    base, ftlab = Path(sys.argv[1]), sys.argv[2]
    seed = int((sys.argv[3:] + ["1"])[0])

    def measured(index: int, drive: dict) -> Future:
        out = base / str(index)
        out.mkdir(parents=True, exist_ok=True)
        (out / "drive.json").write_text(json.dumps(drive))
        if not (out / "series/zones.log").exists() or not (out / "series/skewed.log").exists():
            print(index, "measured", round(measure(drive, out, ftlab)), "s", flush=True)
        return fits.submit(fitted, index, out)

    def fitted(index: int, out: Path) -> None:
        if not (out / "fit.json").exists():
            print(index, "fitted", round(fit(out, ftlab)), "s", flush=True)

    drives = draw(seed, 10)
    with ThreadPoolExecutor(1) as fits, ThreadPoolExecutor(2) as guests:
        jobs = [guests.submit(measured, *own) for own in enumerate(drives)]
        for job in [job.result() for job in jobs]:
            job.result()
    for index, drive in enumerate(drives):
        print(row(index, drive, base / str(index)))


main()
