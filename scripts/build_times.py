#!/usr/bin/env python3
"""Processor seconds of the first build, per crate, and their ratio to another commit: `make build-times`.

scripts/build_times.py [COMMIT] [--rounds N] [--only demo|build]

Builds what `make demo` and `make build` build, from empty, of this folder and of COMMIT (by default the last
release) in turns, so that both meet the same machine. Then an edit of a policy is compiled, with its profile.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is built, with which features.
BUILDS = {"demo": [], "build": ["--features", "full"]}
# The file whose edit is measured: one policy.
POLICY = "crates/ftlab-ftl/src/algorithms/victim/cat.rs"
# A part of its formula, and another.
EDIT = ("f64::from(erases) + 1.0", "f64::from(erases) + 2.0")
SHOWN = 25


def main():
    """Builds, and prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("commit", nargs="?", help="by default the last tag")
    arguments.add_argument("--rounds", type=int, default=1, help="builds of each, in turns")
    arguments.add_argument("--only", choices=BUILDS, action="append", help="what to build")
    asked = arguments.parse_args()
    commit = asked.commit or last_release()
    with tempfile.TemporaryDirectory(prefix="ftlab-build-times-") as work:
        other = Path(work) / "other"
        git("worktree", "add", "--detach", "--quiet", str(other), commit)
        try:
            for name in asked.only or BUILDS:
                seconds = compare(name, {commit: other, "here": ROOT}, Path(work), asked.rounds)
                if name == "demo":
                    edited(Path(work), seconds)
        finally:
            git("worktree", "remove", "--force", str(other))


def last_release():
    """The last tag."""
    found = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        sys.exit("error: there is no tag; name the commit to compare with: make build-times COMMIT=647af120")
    return found.stdout.strip()


def git(*words):
    """Runs git in this repository."""
    subprocess.run(["git", *words], cwd=ROOT, check=True)


def compare(name, folders, work, rounds):
    """Builds `name` in each folder by turns, and prints what it took."""
    builds = {which: [] for which in folders}
    for turn in range(rounds):
        for index, (which, folder) in enumerate(folders.items()):
            target = work / f"{name}-{turn}-{index}"
            builds[which].append(build(folder, target, ["--release", *BUILDS[name]]))
            subprocess.run(["rm", "-rf", str(target)], check=True)
    old, new = (min(total(seconds) for _, seconds in of) for of in builds.values())
    wall, best = min(builds["here"], key=lambda of: total(of[1]))
    print(
        f"\n{name}: {new:.0f} s of processor time in {wall:.0f} s, {old:.0f} s at {next(iter(folders))}: "
        f"ratio {new / old:.2f}"
    )
    for crate, seconds in best.most_common(SHOWN):
        print(f"{seconds:8.1f} s  {crate}")
    sys.stdout.flush()
    return new


def edited(work, demo):
    """Prints what an edit of the policy takes, which is undone; the first build took `demo` seconds."""
    path = ROOT / POLICY
    text = path.read_text()
    arguments = ["--profile", "edit"]
    build(ROOT, work / "edit", arguments)
    try:
        path.write_text(text.replace(*EDIT, 1))
        _, again = build(ROOT, work / "edit", arguments)
    finally:
        path.write_text(text)
    print(f"\nan edit of {POLICY}: {total(again):.1f} s, {total(again) / demo:.3f} of the demo")


def build(folder, target, arguments):
    """Seconds that pass, and crate -> processor seconds; no crate accounts for build scripts and cargo."""
    times = target.with_suffix(".times")
    times.unlink(missing_ok=True)
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "FTLAB_BUILD_TIMES": str(times),
        "RUSTC_WRAPPER": str(ROOT / "scripts/timed-rustc.sh"),
    }
    before, begin = processor_seconds(), time.monotonic()
    command = ["cargo", "build", "--quiet", "--locked", "--package", "ftlab-cli", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    used, wall = processor_seconds() - before, time.monotonic() - begin
    seconds = Counter()
    for line in times.read_text().splitlines() if times.exists() else []:
        user, system, crate = line.split()
        seconds[crate] += float(user) + float(system)
    seconds["build scripts, C and cargo"] = used - total(seconds)
    return wall, seconds


def total(seconds):
    """Of all crates."""
    return sum(seconds.values())


def processor_seconds():
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
