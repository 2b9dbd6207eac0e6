//! 256 clients (of NVMe 1,024) that connect and are silent, slow, or do not take what they asked for: new
//! clients are served all the same, and memory stays bounded.
#![cfg(feature = "live")]

mod common;

use common::Place;
use common::running::Running;
use ftlab_device::nvme::initiator::{Initiator, Request};
use std::io::{Read, Write};
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
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
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

const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:hostile";

/// A queue of NVMe, connected to a controller: the admin queue, to a new one.
fn nvme_queue(
    address: &str,
    nqn: &str,
    queue: u16,
    controller: u16,
) -> (Initiator<TcpStream>, u16) {
    let mut host = Initiator::begin(connect(address), false).unwrap();
    let controller = host.connect(queue, 64, controller, nqn, HOST).unwrap();
    if queue == 0 {
        host.enable().unwrap();
    }
    (host, controller)
}

#[test]
fn nvme_serves_new_hosts_among_1024_hostile_ones() {
    const OF_EACH: usize = 256;
    let place = Place::new();
    let (running, line) = serve(&place, "--nvme", "NVMe at ");
    let (address, nqn) = line.split_once(": ").unwrap();
    let idle: Vec<_> = (0..OF_EACH).map(|_| nvme_queue(address, nqn, 0, u16::MAX)).collect();
    let megabyte = |at: u64| Request::read(1, 256 * at, 256, 1 << 20);
    let deaf: Vec<_> = idle
        .iter()
        .map(|(_, controller)| {
            let (mut host, _) = nvme_queue(address, nqn, 1, *controller);
            (0..32).for_each(|at| {
                host.submit(megabyte(at));
            });
            host.send().unwrap();
            host
        })
        .collect();
    let _silent: Vec<_> = (0..OF_EACH).map(|_| connect(address)).collect();
    let mut slow: Vec<_> = (0..OF_EACH).map(|_| connect(address)).collect();
    new_clients_are_served(&running, &mut slow, &[0, 0, 128, 0, 128], || {
        let (_admin, controller) = nvme_queue(address, nqn, 0, u16::MAX);
        let (mut host, _) = nvme_queue(address, nqn, 1, controller);
        (0..8).map(|at| host.run(megabyte(at)).unwrap().data.len()).sum()
    });
    drop((idle, deaf));
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
