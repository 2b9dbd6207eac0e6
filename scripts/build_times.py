#!/usr/bin/env python3
"""Processor seconds of the first build, per crate, and their ratio to another commit: `make build-times`.

scripts/build_times.py [COMMIT] [--rounds N] [--only demo|build]

Builds what `make demo` and `make build` build, from empty, of this folder and of COMMIT (by default the last release)
in turns, so that both meet the same machine. The last line of each tells what an edit of a policy costs.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is built, with which features.
BUILDS = {"demo": [], "build": ["--features", "full"]}
# The file whose edit is measured: one policy.
POLICY = "crates/ftlab-ftl/src/algorithms/victim/cat.rs"
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
                compare(name, {commit: other, "here": ROOT}, Path(work), asked.rounds)
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
            first = build(folder, target, BUILDS[name])
            builds[which].append((first, edited(folder, target, BUILDS[name])))
            subprocess.run(["rm", "-rf", str(target)], check=True)
    old, new = ([min(sum(first.values()) for first, _ in of) for of in builds.values()])
    print(f"\n{name}: {new:.0f} s of processor time, {old:.0f} s at {next(iter(folders))}: ratio {new / old:.2f}")
    edit = min(sum(again.values()) for _, again in builds["here"])
    print(f"after an edit of {POLICY}: {edit:.1f} s, {edit / new:.3f} of the first build")
    best = min((first for first, _ in builds["here"]), key=lambda of: sum(of.values()))
    for crate, seconds in best.most_common(SHOWN):
        print(f"{seconds:8.1f} s  {crate}")
    sys.stdout.flush()


def edited(folder, target, features):
    """What it takes after an edit of the policy, which is undone."""
    path = folder / POLICY
    if not path.exists():
        return Counter()
    text = path.read_text()
    try:
        path.write_text(text.replace("\nfn ", "\n#[allow(dead_code)]\nfn edited() -> u64 {\n    1\n}\n\nfn ", 1))
        return build(folder, target, features)
    finally:
        path.write_text(text)


def build(folder, target, features):
    """Crate -> processor seconds of a build; what no crate accounts for is of build scripts and of cargo."""
    times = target.with_suffix(".times")
    times.unlink(missing_ok=True)
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "FTLAB_BUILD_TIMES": str(times),
        "RUSTC_WRAPPER": str(ROOT / "scripts/timed-rustc.sh"),
    }
    before = processor_seconds()
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "ftlab-cli", *features]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    total = processor_seconds() - before
    seconds = Counter()
    for line in times.read_text().splitlines() if times.exists() else []:
        user, system, crate = line.split()
        seconds[crate] += float(user) + float(system)
    seconds["build scripts, C and cargo"] = total - sum(seconds.values())
    return seconds


def processor_seconds():
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
