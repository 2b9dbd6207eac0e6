#!/bin/sh
# Fuzzes TARGET for SECONDS with the stable compiler: scripts/fuzz.sh TARGET [SECONDS]
#
# The flags are those of `cargo fuzz run --sanitizer none`: libFuzzer needs to see which edges a run takes.
# Crashes go to artifacts/TARGET beside the target, and inputs that reach new edges to corpus/TARGET, starting from
# seeds/TARGET.
set -e
cd "$(dirname "$0")/.."
target=$1 seconds=${2:-60}
file=$(echo "$target" | tr - _).rs
source=$(ls crates/*/fuzz/fuzz_targets/"$file" 2>/dev/null || true)
if [ -z "$source" ]; then
    echo "no target is called '$target'; there are" >&2
    ls crates/*/fuzz/fuzz_targets/ | sed -n 's/_/-/g; s/\.rs$//p' >&2
    exit 2
fi
cd "$(dirname "$source")/.."
host=$(rustc --print host-tuple)
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
 -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks"
cargo build --release --target "$host" --bin "$target"
mkdir -p "corpus/$target" "artifacts/$target" "seeds/$target"
"${CARGO_TARGET_DIR:-target}/$host/release/$target" -max_total_time="$seconds" -max_len=100000 \
    -artifact_prefix="artifacts/$target/" -print_final_stats=1 "corpus/$target" "seeds/$target"
