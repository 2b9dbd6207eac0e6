#!/usr/bin/env python3
"""Makes a container image of the static program, or takes one apart again.

    scripts/image.py pack PROGRAM VERSION IMAGE.tar
    scripts/image.py unpack IMAGE.tar FOLDER

The image holds the program, its licences, and nothing else. It is an archive in the layout of the Open
Container Initiative, which podman, docker and skopeo load; none of them takes part. The same program gives
the same archive.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
USER = 10001
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

# Python before 3.11.4 knows no filters.
FILTER = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def entry(name: str, mode: int, when: int, size: int | None = None) -> tarfile.TarInfo:
    """What a tar file says of a file of `size` bytes, or of a directory."""
    info = tarfile.TarInfo(name)
    info.mode, info.mtime = mode, when
    if size is None:
        info.type = tarfile.DIRTYPE
    else:
        info.size = size
    return info


def layer(program: Path, when: int) -> bytes:
    """The file system as a tar file."""
    documents = "usr/share/doc/ftlab"
    folders = {"usr": 0o755, "usr/bin": 0o755, "usr/share": 0o755, "usr/share/doc": 0o755, documents: 0o755}
    files = {"usr/bin/ftlab": (program, 0o755)}
    files |= {f"{documents}/{name}": (ROOT / name, 0o644) for name in LICENCES}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, mode in (folders | {"data": 0o777, "tmp": 0o1777}).items():
            tar.addfile(entry(name, mode, when))
        for name, (path, mode) in files.items():
            content = path.read_bytes()
            tar.addfile(entry(name, mode, when, len(content)), io.BytesIO(content))
    return out.getvalue()


def image(program: Path, version: str, when: int) -> dict[str, bytes]:
    """The files of the archive, by name."""
    blobs: dict[str, bytes] = {}

    def blob(kind: str, content: bytes) -> dict[str, object]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        media = f"application/vnd.oci.image.{kind}"
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}

    files = layer(program, when)
    created = datetime.fromtimestamp(when, UTC).isoformat().replace("+00:00", "Z")
    config = {
        "created": created,
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {
            "User": str(USER),
            "Entrypoint": ["/usr/bin/ftlab"],
            "Env": ["PATH=/usr/bin"],
            "WorkingDir": "/data",
            "Labels": {
                "org.opencontainers.image.title": "ftlab",
                "org.opencontainers.image.version": version,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(files).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/image.py"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("config.v1+json", json.dumps(config).encode()),
        "layers": [blob("layer.v1.tar+gzip", gzip.compress(files, mtime=0))],
    }
    listed = blob("manifest.v1+json", json.dumps(manifest).encode())
    name = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"localhost/ftlab:{version}",
    }
    index = {"schemaVersion": 2, "manifests": [listed | {"annotations": name}]}
    blobs["index.json"] = json.dumps(index).encode()
    blobs["oci-layout"] = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()
    return blobs


def pack(program: Path, version: str, out: Path) -> None:
    """Writes the archive."""
    when = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(image(program, version, when).items()):
            tar.addfile(entry(name, 0o644, when, len(content)), io.BytesIO(content))


def unpack(path: Path, folder: Path) -> None:
    """Writes the file system of an image to a folder; an error if a part is not what the image says."""
    with tarfile.open(path) as tar:
        files = {info.name: part.read() for info in tar if (part := tar.extractfile(info)) is not None}

    def blob(of: dict[str, str]) -> bytes:
        kind, digest = of["digest"].split(":")
        content = files[f"blobs/{kind}/{digest}"]
        if hashlib.sha256(content).hexdigest() != digest or len(content) != of["size"]:
            sys.exit(f"error: {path}: {of['digest']} is something else; make the image again")
        return content

    for listed in json.loads(files["index.json"])["manifests"]:
        manifest = json.loads(blob(listed))
        config = json.loads(blob(manifest["config"]))
        for of, diff in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
            content = gzip.decompress(blob(of))
            if f"sha256:{hashlib.sha256(content).hexdigest()}" != diff:
                sys.exit(f"error: {path}: a layer is not {diff}; make the image again")
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                tar.extractall(folder, **FILTER)


def main() -> None:
    """Does what the command line says."""
    match sys.argv[1:]:
        case ["pack", program, version, out]:
            pack(Path(program), version, Path(out))
        case ["unpack", path, folder]:
            unpack(Path(path), Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
