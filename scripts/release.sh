#!/usr/bin/env bash
# Makes all that a release consists of in target/release-VERSION, and tries it: `make release`.
# Maturin, zig and wheel are those of target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."

id=$(cargo pkgid --package ftlab-cli)
version=${id##*[#@]}
host=$(rustc --print host-tuple)
name=ftlab-$version
out=$PWD/target/release-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"

# The same commit gives the same archives, and nothing tells where it was built.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
commit=$(git rev-parse --short=7 HEAD)
FTLAB_COMMIT=$commit
registry=${CARGO_HOME:-$HOME/.cargo}
remap="--remap-path-prefix=$PWD=/ftlab --remap-path-prefix=$registry=/cargo"
CFLAGS="-ffile-prefix-map=$PWD=/ftlab -ffile-prefix-map=$registry=/cargo"
export SOURCE_DATE_EPOCH CFLAGS FTLAB_COMMIT
export PATH=$PWD/target/tools/bin:$PATH

say() { echo "release: $*" >&2; }
fail() { echo "error: $*" >&2; exit 1; }

# The section of this version, or what is to become of it.
changes() { awk -v heading="## $1" '$0 == heading { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md; }
changes "$version" > "$out/CHANGES.md"
if ! [ -s "$out/CHANGES.md" ]; then
	say "CHANGELOG.md has no heading \"## $version\"; taking what is under Unreleased"
	changes Unreleased > "$out/CHANGES.md"
fi

say "the source distribution"
maturin sdist --out "$out" 2> "$work/sdist.log" || fail "$(cat "$work/sdist.log")"

# Zig links against the symbols of an old glibc, so that the wheel serves any Linux since 2014.
say "the wheel"
RUSTFLAGS=$remap maturin build --quiet --profile dist --zig --compatibility manylinux2014 \
	--auditwheel check --out "$work"
wheel unpack --dest "$work" "$work"/*.whl > /dev/null
bom=$(echo "$work/$name/$name.dist-info/sboms"/*.json)
sed -i "s|file://$PWD/|file:///|g" "$bom"
cp "$bom" "$out/$name.cdx.json"
wheel pack --dest-dir "$out" "$work/$name" > /dev/null

# With a target of its own, only the program is linked statically, and not what takes part in its build.
say "the static program"
RUSTFLAGS="$remap -C target-feature=+crt-static" \
	cargo build --quiet --profile dist --locked --package ftlab-cli --features full --target "$host"
folder=$name-${host%%-*}-linux
mkdir "$work/$folder"
cp "${CARGO_TARGET_DIR:-target}/$host/dist/ftlab" CHANGELOG.md CITATION.cff LICENSE-* README.md "$work/$folder"
tar --directory "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
	--create "$folder" | gzip --no-name -9 > "$out/$folder.tar.gz"

say "the image"
image=$out/$folder-oci.tar
scripts/image.py pack "$work/$folder/ftlab" "$version" "$image"

say "trying them"
if found=$(grep --recursive --files-with-matches --text --fixed-strings \
	--regexp="$PWD/" --regexp="$registry/" "$work/$name" "$work/$folder"); then
	fail "these tell where they were built: $found"
fi
if ldd "$work/$folder/ftlab" 2> /dev/null | grep --quiet '=>'; then
	fail "the program needs shared libraries"
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$out"/*.whl
for command in "$work/$folder/ftlab" "$work/venv/bin/ftlab"; do
	[ "$("$command" --version)" = "ftlab $version ($commit)" ] || fail "$command is not ftlab $version ($commit)"
	"$command" run uniform --logical 256MiB --fill random --ftl 1r-greedy --quiet > /dev/null
done
"$work/venv/bin/python" -c 'import ftlab; ftlab.run("uniform", "1r-greedy", drive="256MiB", fill="random")'

scripts/image.py unpack "$image" "$work/root"
cmp "$work/root/usr/bin/ftlab" "$work/$folder/ftlab" || fail "the image has another program"
ran=
for tool in podman docker; do
	if "$tool" info > /dev/null 2>&1; then
		"$tool" load --quiet --input "$image" > /dev/null
		[ "$("$tool" run --rm "localhost/ftlab:$version" --version)" = "ftlab $version ($commit)" ] ||
			fail "$tool does not run the image"
		ran=$tool
	fi
done
[ -n "$ran" ] || say "neither podman nor docker runs here, so the image was unpacked, and not run"

cd "$out"
sha256sum -- * > "$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
ls -l >&2
