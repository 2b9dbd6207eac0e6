//! Programs that others wrote, as clients: libnbd, nbdcopy, nbdkit, qemu and fio. Each test says what it
//! lacks and passes without it (`make setup-drive` installs all).

use crate::programs::{Run, have, python_with_libnbd, run};
use ftlab_drive::Store;
use ftlab_serve::Ram;
use ftlab_serve::nbd::{self, Export, Nbd};
use ftlab_serve::net::{Address, Server, ServerOptions, Tls};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A server over memory.
struct Served {
    directory: TempDir,
    server: Server,
    ram: Arc<Ram>,
}

impl Served {
    fn new(bytes: u64) -> Self {
        let (directory, ram) = (tempfile::tempdir().unwrap(), Arc::new(Ram::new(bytes)));
        let address = directory.path().join("s").display().to_string().parse().unwrap();
        let export = Export { name: "disk".to_owned(), description: "a disk".to_owned() };
        let store = Arc::clone(&ram) as Arc<dyn Store>;
        let report = Box::new(|text| eprintln!("{text}"));
        let options = ServerOptions::default();
        let server =
            Server::start(&address, Arc::new(Nbd::new(store, export)), options, report).unwrap();
        Self { directory, server, ram }
    }

    fn uri(&self) -> String {
        nbd::uri(self.server.address())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file of numbers, each in its own place.
    fn numbers(&self, name: &str, bytes: u64) -> (String, Vec<u8>) {
        let data: Vec<u8> = (0..bytes / 8).flat_map(|n| (n * 0x9e37_79b9).to_le_bytes()).collect();
        let path = self.file(name);
        std::fs::write(&path, &data).unwrap();
        (path.display().to_string(), data)
    }

    fn content(&self) -> Vec<u8> {
        let mut data = vec![0; self.ram.bytes() as usize];
        self.ram.read(0, &mut data).unwrap();
        data
    }
}

#[test]
fn nbdinfo_sees_what_the_server_can_do() {
    if !have(&["nbdinfo"]) {
        return;
    }
    let served = Served::new(16 << 20);
    let text = run("nbdinfo", &[&served.uri()]).succeeds();
    for part in [
        "newstyle-fixed without TLS, using structured packets",
        "export-size: 16777216 (16M)",
        "can_multi_conn: true",
        "can_flush: true",
        "can_fua: true",
        "can_trim: true",
        "can_zero: true",
        "can_fast_zero: true",
        "can_df: true",
        "is_read_only: false",
        "base:allocation",
        "block_size_minimum: 1",
        "block_size_preferred: 4096",
        "block_size_maximum: 33554432",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    let list = run("nbdinfo", &["--list", &served.uri()]).succeeds();
    assert!(list.contains("export=\"disk\"") && list.contains("a disk"), "{list}");
    let wrong = served.uri().replace("///", "///disc");
    let error = run("nbdinfo", &[&wrong]).fails();
    assert!(error.contains("server replied with error to opt_go request"), "{error}");
}

#[test]
fn nbdcopy_copies_there_and_back() {
    if !have(&["nbdcopy"]) {
        return;
    }
    let served = Served::new(48 << 20);
    let (file, data) = served.numbers("there", 48 << 20);
    run("nbdcopy", &["--connections=4", &file, &served.uri()]).succeeds();
    assert!(served.content() == data);
    let back = served.file("back").display().to_string();
    run("nbdcopy", &["--connections=4", &served.uri(), &back]).succeeds();
    assert!(std::fs::read(back).unwrap() == data);
}

#[test]
fn qemu_converts_compares_and_discards() {
    if !have(&["qemu-img", "qemu-io"]) {
        return;
    }
    let served = Served::new(32 << 20);
    let (file, data) = served.numbers("image", 32 << 20);
    let uri = served.uri();
    run("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", &file, &uri]).succeeds();
    assert!(served.content() == data);
    let same = run("qemu-img", &["compare", "-f", "raw", "-F", "raw", &file, &uri]).succeeds();
    assert!(same.contains("Images are identical"), "{same}");
    let commands = [
        "write -f -P 0xac 4k 4k",
        "write -P 0xad 10000 100",
        "discard 0 4k",
        "write -z -u 64k 64k",
        "write -z 128k 4k",
        "flush",
        "read -P 0xac 4k 4k",
        "read -P 0xad 10000 100",
        "read -P 0 0 4k",
        "read -P 0 64k 68k",
    ];
    let mut arguments = vec!["-f", "raw", "-t", "none"];
    arguments.extend(commands.iter().flat_map(|command| ["-c", command]));
    arguments.push(&uri);
    let output = run("qemu-io", &arguments).succeeds();
    assert!(!output.contains("verification failed"), "{output}");
    let mut expected = data;
    expected[..4096].fill(0);
    expected[4096..8192].fill(0xac);
    expected[10_000..10_100].fill(0xad);
    expected[64 << 10..132 << 10].fill(0);
    assert!(served.content() == expected);
}

#[test]
fn fio_verifies_what_it_wrote() {
    if !have(&["fio"]) {
        return;
    }
    if !run("fio", &["--enghelp"]).succeeds().contains("nbd") {
        return crate::programs::skip("this fio has no nbd engine");
    }
    let served = Served::new(64 << 20);
    let uri = format!("--uri={}", served.uri());
    let job = ["--name=v", "--ioengine=nbd", &uri, "--rw=randwrite", "--bsrange=512-64k"];
    let how = ["--bs_unaligned", "--size=64M", "--iodepth=32", "--thread=1", "--fsync=50"];
    let verify = ["--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--verify_state_save=0"];
    let output =
        run("fio", &[&job[..], &how, &verify, &["--output-format=json"]].concat()).succeeds();
    let read =
        output.split("\"read\"").nth(1).and_then(|read| read.split("\"io_bytes\" : ").nth(1));
    let read: u64 = read.and_then(|text| text.split(',').next()?.parse().ok()).unwrap();
    assert!(read > 32 << 20, "fio verified {read} bytes only");
}

#[test]
fn nbdkit_puts_another_server_in_front() {
    if !have(&["nbdkit", "nbdcopy", "nbdinfo"]) {
        return;
    }
    let served = Served::new(8 << 20);
    let (file, data) = served.numbers("there", 8 << 20);
    let socket = format!("socket={}", served.file("s").display());
    let script = format!("nbdcopy {file} \"$uri\" && nbdinfo --size \"$uri\"");
    let output = run("nbdkit", &["-U", "-", "nbd", &socket, "export=disk", "--run", &script]);
    assert_eq!(output.succeeds().trim(), "8388608");
    assert!(served.content() == data);
}

#[test]
fn libnbd_without_its_own_checks_gets_clean_errors() {
    let Some(python) = python_with_libnbd() else { return };
    let served = Served::new(16 << 20);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/nbd_clients/without_checks.py");
    let Run { code, output } = run(python, &[script, &served.file("s").display().to_string()]);
    assert_eq!(code, Some(0), "{output}");
}

/// A server that requires TLS and a certificate of its clients, and its URI.
fn encrypted(ram: Arc<Ram>) -> (Server, String) {
    let certificates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls"));
    let [certificate, key, ca] =
        ["server-cert.pem", "server-key.pem", "ca-cert.pem"].map(|name| certificates.join(name));
    let tls = Some(Tls::load(&certificate, &key, Some(&ca), true).unwrap());
    let options = ServerOptions { tls, ..ServerOptions::default() };
    let report = Box::new(|text| eprintln!("{text}"));
    let anywhere = "127.0.0.1:0".parse().unwrap();
    let server =
        Server::start(&anywhere, Arc::new(Nbd::new(ram, Export::default())), options, report)
            .unwrap();
    let Address::Tcp(address) = server.address() else { panic!("no TCP") };
    let uri = format!("nbds://{address}/?tls-certificates={}", certificates.display());
    (server, uri)
}

#[test]
fn libnbd_encrypts() {
    if !have(&["nbdinfo", "nbdcopy"]) {
        return;
    }
    let (ram, other) = (Arc::new(Ram::new(24 << 20)), Served::new(24 << 20));
    let (server, uri) = encrypted(Arc::clone(&ram));
    let text = run("nbdinfo", &[&uri]).succeeds();
    assert!(text.contains("newstyle-fixed with TLS, using structured packets"), "{text}");
    let (file, data) = other.numbers("there", 24 << 20);
    run("nbdcopy", &["--connections=3", &file, &uri]).succeeds();
    run("nbdcopy", &["--connections=3", &uri, &other.uri()]).succeeds();
    assert!(other.content() == data);
    let error = run("nbdinfo", &[&nbd::uri(server.address())]).fails();
    assert!(error.contains("TLS"), "{error}");
}

#[test]
fn qemu_encrypts() {
    if !have(&["qemu-img"]) {
        return;
    }
    let ram = Arc::new(Ram::new(8 << 20));
    let (server, _) = encrypted(Arc::clone(&ram));
    let Address::Tcp(address) = server.address() else { panic!("no TCP") };
    let certificates = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls");
    let object = format!("tls-creds-x509,id=t,endpoint=client,dir={certificates}");
    let port = address.port();
    let image =
        format!("driver=nbd,server.type=inet,server.host=127.0.0.1,server.port={port},tls-creds=t");
    let info = run("qemu-img", &["info", "--object", &object, "--image-opts", &image]);
    let info = info.succeeds();
    assert!(info.contains("virtual size: 8 MiB"), "{info}");
}

#[test]
fn libnbd_and_qemu_see_the_holes_and_pass_over_them() {
    if !have(&["nbdinfo", "qemu-img"]) {
        return;
    }
    let served = Served::new(64 << 20);
    served.ram.write(16 << 20, &vec![7; 1 << 20]).unwrap();
    let map = run("nbdinfo", &["--map", &served.uri()]).succeeds();
    let parts: Vec<Vec<_>> = map.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        ["0", "16777216", "3", "hole,zero"],
        ["16777216", "1048576", "0", "data"],
        ["17825792", "49283072", "3", "hole,zero"],
    ];
    assert_eq!(parts, expected, "{map}");
    let image = served.file("image").display().to_string();
    let convert = ["convert", "-f", "raw", "-O", "raw", &served.uri(), &image];
    run("qemu-img", &convert).succeeds();
    assert!(std::fs::read(&image).unwrap() == served.content());
    let taken = std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(&image).unwrap()) * 512;
    assert!(taken < 2 << 20, "{taken} bytes");
}
