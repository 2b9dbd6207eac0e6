"""The parts of a run, from the schema of results.

Written by ``cargo run -p ftlab-sim --example python_types``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["NESTED", "RunParts"]


class RunParts:
    """The parts of the result of one FTL, with their types."""

    ftl: str
    cold_region_share: float | None
    collections: int
    config_hash: str
    doubts: list[str]
    endurance: dict[str, Any] | None
    erase_counts: dict[str, Any]
    erases: int
    erases_by_cause: dict[str, Any] | None
    evidence: dict[str, Any] | None
    faults: dict[str, Any] | None
    fdp: dict[str, Any] | None
    full_merges: int
    host_bytes: int
    host_writes: int
    hurried_merges: int
    last_tenth_host_writes: int
    map: dict[str, Any] | None
    mapping: str | None
    media_bytes_per_host_byte: float
    memory: dict[str, Any]
    merge_copies: int
    merged_log_blocks: list[int] | None
    nanoseconds_per_host_write: float
    nanoseconds_per_program: float
    nanoseconds_per_relocation: float | None
    observed: dict[str, Any] | None
    own_workload: dict[str, Any] | None
    parameters: dict[str, str]
    partial_merges: int
    programs_by_cause: dict[str, Any] | None
    progressive_merges: int
    refresh: dict[str, Any] | None
    relocations: int
    rules: str | None
    running_cold_region_share: list[float] | None
    running_erases: list[int]
    running_groups: list[int] | None
    running_host_bytes: list[int] | None
    running_relocations: list[int]
    running_rule: list[int] | None
    running_waf: list[float]
    seconds: float
    settling: dict[str, Any]
    slc: dict[str, Any] | None
    steady_waf: float | None
    streams: list[dict[str, Any]]
    switch_merges: int
    timing: dict[str, Any] | None
    trims: int
    unwritten_trims: int
    victim_valid_share: dict[str, Any]
    waf: float
    waf_last_tenth: float


NESTED = frozenset(
    name for name, kind in RunParts.__annotations__.items() if kind.startswith(("dict", "list"))
)
"""Parts that are lists or documents, or ``None``."""
