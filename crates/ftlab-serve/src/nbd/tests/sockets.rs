//! Real sockets: several clients, clients that leave in the middle, servers that stop.

use super::client::{Listener, Reply, export, hello, request};
use super::hooked::Hooked;
use crate::nbd::Nbd;
use crate::nbd::wire::command;
use crate::net::{Address, Limits, Server, ServerOptions};
use crate::{Ram, ServeError};
use ftlab_drive::Store;
use ftlab_drive::latency::set_due;
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
    serve_with(address, ServerOptions::default())
}

fn serve_with(address: &str, options: ServerOptions) -> Result<Served, ServeError> {
    let (ram, reports) = (Arc::new(Ram::new(BYTES)), Arc::<Mutex<Vec<String>>>::default());
    let reported = Arc::clone(&reports);
    let report = Box::new(move |text| reported.lock().unwrap().push(text));
    let store = Arc::clone(&ram) as Arc<dyn Store>;
    let server =
        Server::start(&address.parse()?, Arc::new(Nbd::new(store, export())), options, report)?;
    Ok(Served { server, ram, reports })
}

fn socket(directory: &Path) -> String {
    directory.join("s").display().to_string()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
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
    let options = ServerOptions::default();
    let server =
        Server::start(&address, Arc::new(Nbd::new(store, export())), options, Box::new(|_| {}))
            .unwrap();
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

/// Limits that a test can wait for.
fn short(connections: usize) -> ServerOptions {
    let brief = Duration::from_millis(200);
    let limits =
        Limits { connections, handshake: brief, request: brief, reply: brief, ..Limits::default() };
    ServerOptions { limits, ..ServerOptions::default() }
}

#[test]
fn slow_clients_are_disconnected_and_idle_ones_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket(directory.path());
    let served = serve_with(&path, short(8)).unwrap();
    let connect = || UnixStream::connect(&path).unwrap();
    let mut idle = shake(connect());
    let _silent = connect();
    let mut halfway = connect();
    halfway.write_all(&hello(false)[..20]).unwrap();
    let mut sending = shake(connect());
    sending.write_all(&request(0, command::WRITE, 1, 0, 4096)[..20]).unwrap();
    let mut large = shake(connect());
    large.write_all(&request(0, command::WRITE, 1, 0, 4 << 20)).unwrap();
    let mut deaf = shake(connect());
    deaf.write_all(&request(0, command::READ, 1, 0, 8 << 20)).unwrap();
    wait_until("all but the idle one are gone", || served.server.connections() == 1);
    let mut reports = served.reports.lock().unwrap().clone();
    reports.sort();
    let reasons: Vec<_> = reports.iter().map(|r| r.split(": ").nth(1).unwrap()).collect();
    for (reason, times) in [
        ("the handshake takes more than 0.2 seconds", 2),
        ("receiving a request takes more than 0.2 seconds", 2),
        ("sending a reply takes more than 0.2 seconds", 1),
    ] {
        assert_eq!(reasons.iter().filter(|other| **other == reason).count(), times, "{reports:?}");
    }
    write_and_read(&mut idle, 1, 1);
}

#[test]
fn a_new_client_takes_the_place_of_one_that_waits_for_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket(directory.path());
    let mut options = short(4);
    options.limits.handshake = Duration::from_secs(60);
    let served = serve_with(&path, options).unwrap();
    let connect = || UnixStream::connect(&path).unwrap();
    let mut first = shake(connect());
    let greeted = |mut stream: UnixStream| {
        stream.read_exact(&mut [0; 18]).unwrap();
        stream
    };
    let mut silent: Vec<_> = (0..20).map(|_| greeted(connect())).collect();
    assert_eq!(served.server.connections(), 4);
    write_and_read(&mut first, 1, 1);
    let mut others: Vec<_> = (0..3).map(|_| shake(connect())).collect();
    write_and_read(&mut first, 2, 2);
    write_and_read(others.last_mut().unwrap(), 3, 3);
    for stream in &mut silent {
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    // When all are idle, one of them goes.
    others.push(first);
    write_and_read(&mut shake(connect()), 4, 4);
    for stream in &others {
        stream.set_nonblocking(true).unwrap();
    }
    let mut has_gone = || others.iter_mut().filter_map(|s| s.read(&mut [0]).ok()).count();
    wait_until("one has gone", || has_gone() > 0);
    assert_eq!(has_gone(), 1);
    assert_eq!(*served.reports.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn only_machines_that_are_allowed_are_served() {
    let with = |networks: &str| {
        let options = ServerOptions { allow: networks.parse().unwrap(), ..short(4) };
        serve_with("127.0.0.1:0", options).unwrap()
    };
    let connect = |served: &Served| {
        let Address::Tcp(address) = *served.server.address() else { panic!("no TCP") };
        TcpStream::connect(address).unwrap()
    };
    let here = with("127.0.0.0/8");
    write_and_read(&mut shake(connect(&here)), 1, 1);
    let elsewhere = with("10.0.0.0/8,192.168.0.1");
    assert!(matches!(connect(&elsewhere).read(&mut [0]), Ok(0) | Err(_)));
    wait_until("it is reported", || !elsewhere.reports.lock().unwrap().is_empty());
    let report = elsewhere.reports.lock().unwrap()[0].clone();
    assert_eq!(report, "a connection is refused: 127.0.0.1 is not among those allowed");
}

/// Reads are due later the nearer they are to the start.
struct Slow(Ram);

impl Store for Slow {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.0.block_bytes()
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> std::io::Result<()> {
        let milliseconds = 40_u64.saturating_sub(offset >> 18);
        set_due(Instant::now() + Duration::from_millis(milliseconds));
        self.0.read(offset, data)
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.0.write(offset, data)
    }

    fn trim(&self, offset: u64, bytes: u64) -> std::io::Result<()> {
        self.0.trim(offset, bytes)
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> std::io::Result<()> {
        self.0.write_zeroes(offset, bytes, may_trim)
    }

    fn flush(&self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn delayed_replies_do_not_come_between_the_pieces_of_a_large_one() {
    let directory = tempfile::tempdir().unwrap();
    let address = socket(directory.path()).parse().unwrap();
    let store = Slow(Ram::new(BYTES));
    for page in 0..BYTES / 4096 {
        store.write(page * 4096, &[(page % 251) as u8; 4096]).unwrap();
    }
    let options = ServerOptions::default();
    let server = Server::start(
        &address,
        Arc::new(Nbd::new(Arc::new(store), export())),
        options,
        Box::new(|_| {}),
    );
    let _server = server.unwrap();
    let mut client = shake(UnixStream::connect(directory.path().join("s")).unwrap());
    let asked = [(1, 0, 4096), (2, 4096, 3 << 20), (3, 4 << 20, 8192), (4, 1 << 20, 1 << 20)];
    let requests = asked.map(|(cookie, at, bytes)| request(0, command::READ, cookie, at, bytes));
    client.write_all(&requests.concat()).unwrap();
    let total: usize = asked.iter().map(|(_, _, bytes)| 16 + *bytes as usize).sum();
    let mut replies = vec![0; total];
    client.read_exact(&mut replies).unwrap();
    let sent = [&b"NBDMAGICIHAVEOPT\0\x03"[..], &replies].concat();
    let bytes_of = |cookie| asked.iter().find(|asked| asked.0 == cookie).map(|asked| asked.2);
    for reply in Listener::new(&sent, false, &bytes_of).replies() {
        let Reply::Data(cookie, data) = reply else { panic!("{reply:?}") };
        let at = asked.iter().find(|asked| asked.0 == cookie).unwrap().1;
        let expected = |index: usize| ((at / 4096 + index as u64 / 4096) % 251) as u8;
        assert!(data.iter().enumerate().all(|(index, byte)| *byte == expected(index)), "{cookie}");
    }
}
