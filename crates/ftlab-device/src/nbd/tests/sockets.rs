//! Real sockets: several clients, clients that leave in the middle, servers that stop.

use super::client::{Listener, Reply, export, hello, request};
use super::hooked::Hooked;
use crate::latency::set_due;
use crate::nbd::wire::command;
use crate::nbd::{Address, Server};
use crate::{Ram, ServeError, Store};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BYTES: u64 = 8 << 20;

/// A server, its store, and what it reported.
struct Served {
    server: Server,
    ram: Arc<Ram>,
    reports: Arc<Mutex<Vec<String>>>,
}

fn serve(address: &str) -> Result<Served, ServeError> {
    let (ram, reports) = (Arc::new(Ram::new(BYTES)), Arc::<Mutex<Vec<String>>>::default());
    let reported = Arc::clone(&reports);
    let report = Box::new(move |text| reported.lock().unwrap().push(text));
    let store = Arc::clone(&ram) as Arc<dyn Store>;
    let server = Server::start(&address.parse()?, export(), store, report)?;
    Ok(Served { server, ram, reports })
}

fn socket(directory: &Path) -> String {
    directory.join("s").display().to_string()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

/// Shakes hands, and returns the stream where the replies begin.
fn shake<S: Read + Write>(mut stream: S) -> S {
    stream.write_all(&hello(false)).unwrap();
    let mut sent = vec![0; 18 + 3 * 20 + 12 + 14];
    stream.read_exact(&mut sent).unwrap();
    assert_eq!(Listener::new(&sent, false, &|_| None).answers().len(), 3);
    stream
}

/// Writes a page full of `byte`, and reads it back.
fn write_and_read<S: Read + Write>(stream: &mut S, page: u64, byte: u8) {
    let offset = page * 4096;
    let mut requests = request(0, command::WRITE, 1, offset, 4096);
    requests.extend([byte; 4096]);
    requests.extend(request(0, command::READ, 2, offset, 4096));
    stream.write_all(&requests).unwrap();
    let mut replies = vec![0; 16 + 16 + 4096];
    stream.read_exact(&mut replies).unwrap();
    let sent = [&b"NBDMAGICIHAVEOPT\0\x03"[..], &replies].concat();
    let reads = |cookie| (cookie == 2).then_some(4096);
    let replies = Listener::new(&sent, false, &reads).replies();
    assert_eq!(replies, [Reply::Done(1), Reply::Data(2, vec![byte; 4096])]);
}

#[test]
fn many_clients_work_at_once_over_both_kinds_of_sockets() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket(directory.path());
    let (unix, tcp) = (serve(&path).unwrap(), serve("127.0.0.1:0").unwrap());
    let Address::Tcp(tcp_address) = *tcp.server.address() else { panic!("no TCP") };
    std::thread::scope(|scope| {
        for client in 0..8_u64 {
            let path = &path;
            scope.spawn(move || {
                let mut unix = shake(UnixStream::connect(path).unwrap());
                let mut tcp = shake(TcpStream::connect(tcp_address).unwrap());
                for round in 0..50 {
                    let page = 8 * round + client;
                    write_and_read(&mut unix, page, client as u8 + 1);
                    write_and_read(&mut tcp, page, client as u8 + 1);
                }
            });
        }
    });
    for served in [unix, tcp] {
        wait_until("all have left", || served.server.connections() == 0);
        assert_eq!(*served.reports.lock().unwrap(), Vec::<String>::new());
        let mut page = [0; 4096];
        served.ram.read(4096 * (8 * 49 + 7), &mut page).unwrap();
        assert_eq!(page, [8; 4096]);
    }
}

#[test]
fn a_client_that_leaves_in_the_middle_harms_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket(directory.path());
    let served = serve(&path).unwrap();
    let mut other = shake(UnixStream::connect(&path).unwrap());
    let whole = [hello(false), request(0, command::WRITE, 1, 0, 4096), vec![9; 4096]].concat();
    for end in [0, 3, 4, 10, hello(false).len() + 5, whole.len() - 1] {
        UnixStream::connect(&path).unwrap().write_all(&whole[..end]).unwrap();
        wait_until("it has left", || served.server.connections() == 1);
    }
    let mut page = [1; 4096];
    served.ram.read(0, &mut page).unwrap();
    assert_eq!(page, [0; 4096], "half a request is none");
    write_and_read(&mut other, 3, 3);
    let mut browser = UnixStream::connect(&path).unwrap();
    browser.write_all(b"\0\0\0\x03GET / HTTP/1.1\r\n\r\n").unwrap();
    wait_until("it is reported", || !served.reports.lock().unwrap().is_empty());
    let report = served.reports.lock().unwrap()[0].clone();
    assert!(report.contains("ends: an option begins with 0x474554"), "{report}");
}

#[test]
fn a_server_that_stops_answers_what_was_asked_and_removes_its_socket() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket(directory.path());
    let served = serve(&path).unwrap();
    let mut client = shake(UnixStream::connect(&path).unwrap());
    write_and_read(&mut client, 5, 5);
    let mut requests = Vec::new();
    for page in 0..20 {
        requests.extend(request(0, command::WRITE, page, page * 4096, 4096));
        requests.extend([6; 4096]);
    }
    client.write_all(&requests).unwrap();
    drop(served.server);
    let mut replies = Vec::new();
    client.read_to_end(&mut replies).unwrap();
    assert_eq!(replies.len(), 20 * 16);
    assert!(!Path::new(&path).exists());
    let mut last = [0; 4096];
    served.ram.read(19 * 4096, &mut last).unwrap();
    assert_eq!(last, [6; 4096]);
    assert_eq!(Arc::strong_count(&served.ram), 1, "nobody holds the store any more");
}

#[test]
fn a_socket_that_was_left_behind_is_replaced_and_one_in_use_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket(directory.path());
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let _first = serve(&path).unwrap();
    let error = serve(&path).err().unwrap().to_string();
    assert!(
        error.ends_with("is in use: another server answers there; stop it, or use another path")
    );
    let file = directory.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let error = serve(&file.display().to_string()).err().unwrap();
    assert!(matches!(error, ServeError::NotASocket { .. }));
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}

#[test]
fn replies_that_are_held_back_come_when_they_are_due_and_others_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let address = socket(directory.path()).parse().unwrap();
    // The first pages take longest.
    let before_write = |offset: u64, _| {
        let milliseconds = 100_u64.saturating_sub(offset >> 12);
        set_due(Instant::now() + Duration::from_millis(milliseconds));
    };
    let ram = Ram::new(BYTES);
    let store = Arc::new(Hooked { block_bytes: ram.block_bytes(), ram, before_write });
    let server = Server::start(&address, export(), store, Box::new(|_| {})).unwrap();
    let mut client = shake(UnixStream::connect(directory.path().join("s")).unwrap());
    let mut requests = Vec::new();
    for page in [10, 70, 40] {
        requests.extend(request(0, command::WRITE, page, page * 4096, 4096));
        requests.extend([1; 4096]);
    }
    requests.extend(request(0, command::FLUSH, 5, 0, 0));
    let begin = Instant::now();
    client.write_all(&requests).unwrap();
    let mut cookie = || {
        let mut reply = [0; 16];
        client.read_exact(&mut reply).unwrap();
        (u64::from_be_bytes(reply[8..].try_into().unwrap()), begin.elapsed().as_millis() as u64)
    };
    assert_eq!(cookie().0, 5);
    for page in [70, 40, 10] {
        let (cookie, milliseconds) = cookie();
        assert_eq!(cookie, page);
        assert!(milliseconds >= 100 - page, "{milliseconds} ms");
    }
    // A server that stops still sends what it owes.
    let write = [request(0, command::WRITE, 1, 0, 4096), vec![1; 4096]].concat();
    client.write_all(&write).unwrap();
    drop(server);
    let mut last = Vec::new();
    client.read_to_end(&mut last).unwrap();
    assert_eq!(last.len(), 16);
}
