#!/bin/sh
# Fuzzes TARGET for SECONDS with the stable compiler: scripts/fuzz.sh TARGET [SECONDS]
#
# A format of traces is a target, too: `any`, which is told of it by FTLAB_FUZZ_FORMAT.
#
# The flags are those of `cargo fuzz run --sanitizer none`: libFuzzer needs to see which edges a run takes.
# Crashes go to artifacts/TARGET beside the target, and inputs that reach new edges to corpus/TARGET, starting from
# seeds/TARGET.
set -e
cd "$(dirname "$0")/.."
target=$1 seconds=${2:-60}
bin=$target
if grep -qr "^    name: \"$target\"" crates/ftlab-trace/src/format; then
    export FTLAB_FUZZ_FORMAT="$target"
    bin=any
fi
file=$(echo "$bin" | tr - _).rs
source=$(ls crates/*/fuzz/fuzz_targets/"$file" 2>/dev/null || true)
if [ -z "$source" ]; then
    echo "no target is called '$target'; there are" >&2
    ls crates/*/fuzz/fuzz_targets/ | sed -n 's/_/-/g; s/\.rs$//p' >&2
    echo "and the formats of \`ftlab list formats\`" >&2
    exit 2
fi
cd "$(dirname "$source")/.."
host=$(rustc --print host-tuple)
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
 -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks"
cargo build --release --target "$host" --bin "$bin"
mkdir -p "corpus/$target" "artifacts/$target" "seeds/$target"
"${CARGO_TARGET_DIR:-target}/$host/release/$bin" -max_total_time="$seconds" -max_len=100000 \
    -artifact_prefix="artifacts/$target/" -print_final_stats=1 "corpus/$target" "seeds/$target"
