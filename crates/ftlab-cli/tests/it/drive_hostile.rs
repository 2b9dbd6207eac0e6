//! 256 clients (of NVMe 1,024 in `make test-all`) that connect and are silent, slow, or do not take what they asked
//! for: new clients are served all the same, and memory stays bounded.
#![cfg(feature = "live")]

use crate::common::Place;
use crate::common::running::Running;
use ftlab_serve::nvme::initiator::{Initiator, Request};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Clients of each of four kinds.
const OF_EACH: usize = 64;
const RSS_MAX_KIB: u64 = 512 << 10;
/// A second, and slack for machines that do much else at the same time.
const SERVED_WITHIN: Duration = Duration::from_secs(3);

/// A drive that is served, and where.
fn serve(place: &Place, option: &str, before_address: &str) -> (Running, String) {
    let created = place.ftlab("drive create d --size 256MiB --op 25% --pages-per-block 64");
    assert_eq!(created.code, 0, "{}", created.stderr);
    let mut running = Running::start(place, &format!("drive serve d {option} 127.0.0.1:0"));
    let line = running.says(before_address);
    let address = line.split(before_address).nth(1).unwrap().trim().to_owned();
    (running, address)
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream
}

/// Sends one byte of `bytes` to each of these clients, which may have been disconnected.
fn trickle(slow: &mut [TcpStream], bytes: &[u8], round: usize) {
    for stream in slow {
        let _ = stream.write_all(&bytes[round..=round]);
    }
}

/// Memory that the process has and has had, in KiB.
fn memory_kib(running: &Running) -> [u64; 2] {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.child.id())).unwrap();
    ["VmRSS:", "VmHWM:"].map(|label| {
        let line = status.lines().find_map(|line| line.strip_prefix(label)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    })
}

/// Serves new clients, while slow ones send a byte now and then, and looks at the memory.
fn new_clients_are_served(
    running: &Running,
    slow: &mut [TcpStream],
    their_bytes: &[u8],
    mut serve: impl FnMut() -> usize,
) {
    for round in 0..5 {
        trickle(slow, their_bytes, round);
        std::thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        let bytes = serve();
        let taken = begin.elapsed();
        let [now, most] = memory_kib(running).map(|kib| kib >> 10);
        println!("served {bytes} bytes in {taken:?}; {now} MiB of memory, {most} MiB at most");
        assert!(taken < SERVED_WITHIN, "{taken:?}");
    }
    assert!(memory_kib(running)[1] < RSS_MAX_KIB);
}

/// The flags of a client, and the option that starts the transmission.
const HELLO: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";
/// The greeting, the answers to that option, and their size.
const ANSWERS_BYTES: usize = 18 + 3 * 20 + 12 + 14;

fn nbd_read(offset: u64, bytes: u32) -> Vec<u8> {
    let mut request = b"\x25\x60\x95\x13\0\0\0\0\0\0\0\0\0\0\0\x01".to_vec();
    request.extend(offset.to_be_bytes());
    request.extend(bytes.to_be_bytes());
    request
}

fn nbd_client(address: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(HELLO).unwrap();
    stream.read_exact(&mut [0; ANSWERS_BYTES]).unwrap();
    stream
}

#[test]
fn nbd_serves_new_clients_among_256_hostile_ones() {
    let place = Place::new();
    let (running, address) = serve(&place, "--nbd", "NBD at nbd://");
    let address = address.trim_end_matches('/');
    let _idle: Vec<_> = (0..OF_EACH).map(|_| nbd_client(address)).collect();
    let _deaf: Vec<_> = (0..OF_EACH as u64)
        .map(|_| {
            let mut stream = nbd_client(address);
            let reads: Vec<_> = (0..8).flat_map(|n| nbd_read(n << 25, 32 << 20)).collect();
            stream.write_all(&reads).unwrap();
            stream
        })
        .collect();
    let _silent: Vec<_> = (0..OF_EACH).map(|_| connect(address)).collect();
    let mut slow: Vec<_> = (0..OF_EACH).map(|_| connect(address)).collect();
    new_clients_are_served(&running, &mut slow, HELLO, || {
        let mut client = nbd_client(address);
        client.write_all(&nbd_read(1 << 20, 8 << 20)).unwrap();
        let mut reply = vec![1; 16 + (8 << 20)];
        client.read_exact(&mut reply).unwrap();
        assert!(reply[16..].iter().all(|byte| *byte == 0));
        reply.len()
    });
    running.stop();
}

/// Where a drive is served over NVMe, and its name.
#[derive(Clone, Copy)]
struct Nvme<'a> {
    address: &'a str,
    nqn: &'a str,
}

type Queue = Initiator<TcpStream>;

impl Nvme<'_> {
    /// A new controller of a host: its admin queue, and its number.
    fn admin(self, host: &str) -> io::Result<(Queue, u16)> {
        let mut queue = Initiator::begin(connect(self.address), false)?;
        let controller = queue.connect(0, 64, u16::MAX, self.nqn, &name(host))?;
        queue.enable()?;
        Ok((queue, controller))
    }

    /// An I/O queue of a controller.
    fn io(self, host: &str, controller: u16) -> Queue {
        let mut queue = Initiator::begin(connect(self.address), false).unwrap();
        queue.connect(1, 64, controller, self.nqn, &name(host)).unwrap();
        queue
    }
}

fn name(host: &str) -> String {
    format!("nqn.2014-08.org.nvmexpress:uuid:{host}")
}

/// Whether the server has closed the connection.
fn is_closed(queue: &Queue) -> bool {
    let mut stream = queue.stream();
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    !read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[test]
fn nvme_serves_new_hosts_among_hostile_ones() {
    let of_each = if std::env::var_os("FTLAB_TEST_ALL").is_some() { 4 * OF_EACH } else { OF_EACH };
    let place = Place::new();
    let (running, line) = serve(&place, "--nvme", "NVMe at ");
    let (address, nqn) = line.split_once(": ").unwrap();
    let nvme = Nvme { address, nqn };
    let name = |index: usize| format!("hostile-{}", index / 60);
    let idle: Vec<_> = (0..of_each).map(|index| nvme.admin(&name(index)).unwrap()).collect();
    let megabyte = |at: u64| Request::read(1, 256 * at, 256, 1 << 20);
    let deaf: Vec<_> = idle
        .iter()
        .enumerate()
        .map(|(index, (_, controller))| {
            let mut host = nvme.io(&name(index), *controller);
            (0..32).for_each(|at| {
                host.submit(megabyte(at));
            });
            host.send().unwrap();
            host
        })
        .collect();
    let _silent: Vec<_> = (0..of_each).map(|_| connect(address)).collect();
    let mut slow: Vec<_> = (0..of_each).map(|_| connect(address)).collect();
    new_clients_are_served(&running, &mut slow, &[0, 0, 128, 0, 128], || {
        let (_admin, controller) = nvme.admin("new").unwrap();
        let mut host = nvme.io("new", controller);
        (0..8).map(|at| host.run(megabyte(at)).unwrap().data.len()).sum()
    });
    drop((idle, deaf));
    running.stop();
}

#[test]
fn nvme_keeps_a_host_that_is_in_use_among_1049_idle_controllers() {
    let place = Place::new();
    let (running, line) = serve(&place, "--nvme", "NVMe at ");
    let (address, nqn) = line.split_once(": ").unwrap();
    let nvme = Nvme { address, nqn };
    // Connected before all others, and silent until they are there.
    let (mut admin, controller) = nvme.admin("mounted").unwrap();
    let mut io = nvme.io("mounted", controller);
    assert_eq!(io.run(Request::write(1, 0, 1, vec![7; 4096])).unwrap().status, 0);
    // First under one name, and then each under its own.
    let of_one: Vec<_> = (0..149).map(|_| nvme.admin("many").unwrap().0).collect();
    let of_others: Vec<_> =
        (0..900).map(|index| nvme.admin(&format!("other-{index}")).unwrap().0).collect();
    assert_eq!(io.run(Request::read(1, 0, 1, 4096)).unwrap().data, [7; 4096]);
    admin.enable().unwrap();
    let left = |queues: &[Queue]| queues.iter().filter(|queue| !is_closed(queue)).count();
    // Of a machine there are 512, all of them younger than those that made way.
    assert_eq!((left(&of_one), left(&of_others)), (0, 511));
    assert_eq!(left(&of_others[900 - 511..]), 511);
    running.stop();
}

#[test]
fn nvme_tells_a_host_with_too_many_controllers_in_use_that_it_is_busy() {
    let place = Place::new();
    let (running, line) = serve(&place, "--nvme", "NVMe at ");
    let (address, nqn) = line.split_once(": ").unwrap();
    let nvme = Nvme { address, nqn };
    let in_use = |host: &str| {
        let (admin, controller) = nvme.admin(host).unwrap();
        let mut io = nvme.io(host, controller);
        assert_eq!(io.run(Request::read(1, 0, 1, 4096)).unwrap().status, 0);
        (admin, io)
    };
    let mut used: Vec<_> = (0..63).map(|_| in_use("many")).collect();
    let idle = nvme.admin("many").unwrap().0;
    // The idle one makes way, and then there is none.
    used.push(in_use("many"));
    assert!(is_closed(&idle));
    let error = nvme.admin("many").err().unwrap().to_string();
    assert_eq!(error, "Connect: status 0x181, parameter 0x0");
    assert!(!used.iter().any(|(admin, io)| is_closed(admin) || is_closed(io)));
    in_use("another");
    running.stop();
}

#[test]
fn the_dashboard_serves_new_clients_among_256_hostile_ones() {
    let place = Place::new();
    let (running, address) = serve(&place, "--nbd s --http", "dashboard at http://");
    let asking = |path: &str| {
        let mut stream = connect(&address);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        stream
    };
    let _events: Vec<_> = (0..OF_EACH).map(|_| asking("/api/events")).collect();
    let _deaf: Vec<_> = (0..OF_EACH).map(|_| asking("/api/blocks")).collect();
    let _silent: Vec<_> = (0..OF_EACH).map(|_| connect(&address)).collect();
    let mut slow: Vec<_> = (0..OF_EACH).map(|_| connect(&address)).collect();
    new_clients_are_served(&running, &mut slow, b"GET /api/status", || {
        let mut answer = String::new();
        asking("/api/status").read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("\"uuid\""), "{answer}");
        answer.len()
    });
    running.stop();
}
