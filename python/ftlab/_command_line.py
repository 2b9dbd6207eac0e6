"""Runs as command lines."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from ftlab._drive import Drive
from ftlab._own import named
from ftlab._text import Setting, texts
from ftlab._workload import Trace, core_workload
from ftlab.errors import ExperimentError, ParameterError

__all__ = ["command_line", "printed", "reading_words", "setting_words", "workload_text"]

_MAY_BE_BARE = {"compact", "side_by_side"}
"""Options whose value is optional, so that it must follow an equals sign."""


def command_line(
    ftls: Iterable[str], workload: object, drive: Drive, settings: Mapping[str, Setting | None]
) -> str | None:
    """The command ``ftlab run`` with these FTLs; none for workloads without a name and own policies."""
    if isinstance(workload, Trace):
        path, reading = os.fspath(workload.path), reading_words(workload)
    elif isinstance(workload, str | os.PathLike):
        path, reading = os.fspath(workload), []
    else:
        return None
    ftls = list(ftls)
    if named(ftls)[1]:
        return None
    words = ["ftlab", "run", path, *reading, *setting_words(drive._settings()), *setting_words(settings)]
    for ftl in dict.fromkeys(ftls):
        words += ["--ftl", ftl]
    return shlex.join(words)


def workload_text(workload: object) -> str:
    """The workload as text, as far as its name identifies it."""
    if isinstance(workload, Trace):
        return " ".join([os.fspath(workload.path), *reading_words(workload)])
    return core_workload(workload).name


def reading_words(trace: Trace) -> list[str]:
    """The options for reading a trace."""
    fields = {name: value for name, value in asdict(trace).items() if name not in ("path", "volumes")}
    volumes = [word for volume in trace.volumes for word in ("--volume", volume)]
    return volumes + setting_words(fields)


def setting_words(settings: Mapping[str, Setting | None]) -> list[str]:
    """The options with these settings."""
    words = []
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False and (name, value) != ("seed", 1):
            text = texts({name: value})[name]
            words += [f"{option}={text}"] if name in _MAY_BE_BARE else [option, text]
    return words


def printed(name: str, words: Iterable[str]) -> str:
    """What a command prints on standard output; its message is raised if it fails."""
    command = [sys.executable, "-m", "ftlab", name, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = done.stderr.strip().removeprefix("error: ")
        raise (ParameterError if done.returncode == 2 else ExperimentError)(message)
    return done.stdout
