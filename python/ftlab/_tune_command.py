"""The command ``ftlab tune``, after Rust has parsed the command line."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from typing import Any

from ftlab._core import __version__
from ftlab._drive import Drive
from ftlab._tune import tune
from ftlab._tuning import Trial, Tuning
from ftlab._workload import Trace
from ftlab.errors import FtlabError, ParameterError

__all__ = ["main"]


def main(given: str) -> int:
    """Run the search and print its result.

    Parameters
    ----------
    given : str
        JSON object of the given options, by name, and the ``version`` of the command.

    Returns
    -------
    int
        The exit status: 2 if the command was wrong, 1 for any other error, 130 after Ctrl-C.
    """
    options = json.loads(given)
    try:
        _tune(options)
    except (FtlabError, ImportError) as error:
        print(f"error: {_in_options(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, ParameterError) else 1
    except KeyboardInterrupt:
        resumed = "the same command resumes" if options.get("out") else "with --out, it could be resumed"
        print(f"stopped; {resumed}", file=sys.stderr)
        return 130
    return 0


def _tune(options: dict[str, Any]) -> None:
    _check_version(options.pop("version"))
    show = sys.stderr if options.pop("json", False) else sys.stdout
    quiet = options.pop("quiet", False)
    out, ftl = options.get("out"), options.pop("ftl")
    tuning = tune(ftl, progress=False if quiet else None, **_arguments(options))
    files = [] if out is None else tuning.save(out)
    print(_report(tuning), end="", file=show)
    if show is sys.stderr:
        print(tuning.to_json(), end="")
    if files and not quiet:
        print("wrote", ", ".join(map(str, files)), file=sys.stderr)


def _check_version(command: str) -> None:
    if command != __version__:
        raise FtlabError(
            f"the command is ftlab {command}, but the Python package of {sys.executable} is {__version__}; "
            "install both from the same source"
        )


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`ftlab.tune`."""
    reading = {name: options.pop(name) for name in _names(Trace) if name in options}
    if "volume" in options:
        reading["volumes"] = options.pop("volume")
    if "%" not in reading.get("skip_bad", "%"):
        reading["skip_bad"] += "%"
    if reading.get("compact") == "page":
        reading["compact"] = options.get("page_size", "4KiB")
    if reading:
        options["workload"] = Trace(options["workload"], **reading)
    drive = {name: options.pop(name) for name in _names(Drive) if name in options}
    for name in ("trials", "batch", "threads", "seed"):
        if name in options:
            options[name] = int(options[name])
    for name in ("fix", "space"):
        options[name] = dict(_pair(name, text) for text in options.get(name, []))
    return {"drive": Drive(**drive), **options}


def _names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _pair(option: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        example = "levels=6" if option == "fix" else "epoch=0.01..0.5 or 'fallback=raise|greedy'"
        raise ParameterError(f"--{option} {text!r} is not a parameter and its values, such as {example}")
    return key, value


def _in_options(message: str) -> str:
    """The message, with options as the user types them."""
    return message.replace("metadata_budget", "--metadata-budget").replace("as out", "with --out")


def _report(tuning: Tuning) -> str:
    """The result, as tables and sentences."""
    rows = [("default", tuning.default), ("best", tuning.best)]
    text = _table(rows)
    budget = "" if tuning.budget_bytes is None else f" within {tuning.budget_bytes:,} B of metadata"
    text += f"\n{len(tuning.trials)} trials: {_gain(tuning)}{budget}.\n{tuning.trust}\n"
    failed = [trial for trial in tuning.trials if trial.error]
    if failed:
        text += (
            f"{len(failed)} trials failed, the first with: {failed[0].error}\n"
            "Exclude such parameters with --fix or --space.\n"
        )
    if {trial.ftl for trial in tuning.pareto} - {tuning.default.ftl, tuning.best.ftl}:
        text += "\nPareto front of write amplification and metadata:\n\n"
        text += _table([("", trial) for trial in tuning.pareto])
    if tuning.validation is not None:
        seen = tuning.validation
        text += (
            f"\nOn {seen.workload}, not used in the search: default {seen.default:.4f}, "
            f"best {seen.best:.4f}.\n"
        )
    text += "\n" + "".join(f"{name}: {where}\n" for name, where in tuning.searched.items())
    text += "".join(f"{name}: not searched, {why}\n" for name, why in tuning.omitted.items())
    return text + (f"\nTo run both again:\n  {tuning.command}\n" if tuning.command else "")


def _gain(tuning: Tuning) -> str:
    """The gain of the best, in words."""
    if tuning.best.waf == tuning.default.waf:
        return "no trial has a lower write amplification than the default"
    change = "fewer" if tuning.gain > 0 else "more"
    return f"the best writes {abs(tuning.gain):.1%} {change} flash pages than the default"


def _table(rows: list[tuple[str, Trial]]) -> str:
    """Trials as a table."""
    label = max(len(name) for name, _ in rows)
    has_steady = any(trial.steady_waf is not None for _, trial in rows)
    steady = f"  {'steady':>7}" if has_steady else ""
    lines = [f"{'':{label}}{steady}  {'WAF':>7}  {'last 10%':>8}  {'metadata':>14}  FTL"]
    for name, trial in rows:
        steady = f"  {_steady(trial):>7}" if has_steady else ""
        lines.append(
            f"{name:{label}}{steady}  {trial.run_waf or 0:7.4f}  {trial.waf_last_tenth or 0:8.4f}  "
            f"{trial.metadata_bytes or 0:>12,} B  {trial.ftl}"
        )
    return "".join(line + "\n" for line in lines)


def _steady(trial: Trial) -> str:
    """The steady value, if there is one."""
    return "-" if trial.steady_waf is None else f"{trial.steady_waf:.4f}"
