#!/usr/bin/env bash
# A compiler for cargo that notes the processor seconds of each call: RUSTC_WRAPPER of scripts/build_times.py.
name=other
previous=
for word in "$@"; do
	[ "$previous" = --crate-name ] && name=$word
	previous=$word
done
exec 3>&2
TIMEFORMAT="%U %S $name"
{ time "$@" 2>&3; } 2>> "$FTLAB_BUILD_TIMES"
