//! Real sockets: several hosts, hosts that leave, and the discovery service.

use super::bench::{BLOCK, Disk, HOST, asking, fields, plain};
use crate::net::{Address, Limits, Server, ServerOptions};
use crate::nvme::initiator::{Initiator, Request};
use crate::nvme::layout::{DISCOVERY_NQN, Data, Header, kind, opcode};
use crate::nvme::{Subsystem, SubsystemOptions};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Host = Initiator<TcpStream>;

struct Served {
    server: Server,
    address: SocketAddr,
    nqn: String,
    reports: Arc<Mutex<Vec<String>>>,
}

fn serve(disk: &Arc<Disk>) -> Served {
    serve_with(disk, ServerOptions::default())
}

fn serve_with(disk: &Arc<Disk>, options: ServerOptions) -> Served {
    let subsystem =
        Subsystem::new(Arc::clone(disk) as _, Arc::clone(disk) as _, SubsystemOptions::default())
            .unwrap();
    let nqn = subsystem.nqn().to_owned();
    let reports = Arc::<Mutex<Vec<String>>>::default();
    let reported = Arc::clone(&reports);
    let report = Box::new(move |text| reported.lock().unwrap().push(text));
    let anywhere = "127.0.0.1:0".parse().unwrap();
    let server = Server::start(&anywhere, Arc::new(subsystem), options, report).unwrap();
    let Address::Tcp(address) = *server.address() else { panic!("no TCP") };
    Served { server, address, nqn, reports }
}

impl Served {
    fn connect(&self, queue: u16, controller: u16, nqn: &str) -> Host {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let mut host = Initiator::begin(stream, queue % 2 == 1).unwrap();
        host.connect(queue, 64, controller, nqn, HOST).unwrap();
        host
    }

    fn admin(&self) -> (Host, u16) {
        let mut host = self.connect(0, u16::MAX, &self.nqn);
        host.enable().unwrap();
        let found = host.run(asking(opcode::admin::IDENTIFY, 0, [1, 0, 0, 0, 0, 0], 4096)).unwrap();
        let controller = fields(&found).u16(78);
        (host, controller)
    }

    fn wait_until_alone(&self) {
        let begin = Instant::now();
        while self.server.connections() > 0 {
            assert!(begin.elapsed() < Duration::from_secs(120), "connections are left");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn several_hosts_with_several_queues_work_at_once() {
    let disk = Arc::new(Disk::default());
    let served = serve(&disk);
    std::thread::scope(|scope| {
        for host in 0..3_u64 {
            let served = &served;
            scope.spawn(move || {
                let (admin, controller) = served.admin();
                std::thread::scope(|scope| {
                    for queue in 1..4_u16 {
                        scope.spawn(move || {
                            let mut io = served.connect(queue, controller, &served.nqn);
                            let byte = (host * 4 + u64::from(queue)) as u8;
                            for step in 0..30_u64 {
                                let first = u64::from(byte) * 256 + step;
                                let blocks = 1 + (step % 16) as u32;
                                let data = vec![byte; blocks as usize * BLOCK];
                                let write = Request::write(1, first, blocks, data.clone());
                                assert_eq!(io.run(write).unwrap().status, 0);
                                let bytes = data.len() as u32;
                                let read = Request::read(1, first, blocks, bytes);
                                assert!(io.run(read).unwrap().data == data);
                            }
                        });
                    }
                });
                drop(admin);
            });
        }
    });
    served.wait_until_alone();
    assert_eq!(*served.reports.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn commands_sent_at_once_are_done_in_order_and_one_that_fails_fails_alone() {
    let served = serve(&Arc::default());
    let (_admin, controller) = served.admin();
    // With digests, and without.
    for number in [1, 2] {
        let mut queue = served.connect(number, controller, &served.nqn);
        for round in 0..8_u8 {
            let data = |index: u8| vec![index ^ round << 2 ^ number as u8; BLOCK];
            let request = |index: u8| match index % 5 {
                0 | 2 => Request::write(1, index.into(), 1, data(index)),
                // What has just been written.
                1 | 3 => Request::read(1, u64::from(index) - 1, 1, BLOCK as u32),
                _ => Request::read(1, 1 << 40, 1, BLOCK as u32),
            };
            let ids: Vec<u16> = (0..60).map(|index| queue.submit(request(index))).collect();
            queue.send().unwrap();
            for (index, id) in (0..).zip(ids) {
                let done = queue.receive_done().unwrap();
                assert_eq!((done.id, done.status != 0), (id, index % 5 == 4));
                assert!(!matches!(index % 5, 1 | 3) || done.data == data(index - 1));
            }
        }
    }
}

#[test]
fn when_the_admin_queue_ends_all_others_do() {
    let disk = Arc::new(Disk::default());
    let served = serve(&disk);
    let (admin, controller) = served.admin();
    let mut io = served.connect(1, controller, &served.nqn);
    assert_eq!(io.run(Request::write(1, 0, 1, vec![1; BLOCK])).unwrap().status, 0);
    drop(admin);
    served.wait_until_alone();
    assert_eq!(io.stream.read(&mut [0; 8]).unwrap_or(0), 0);
    // A reset ends them too, and the host connects again.
    let (mut admin, controller) = served.admin();
    let mut io = served.connect(1, controller, &served.nqn);
    admin.set_property(0x14, 0).unwrap();
    assert!(io.run(Request::read(1, 0, 1, BLOCK as u32)).is_err());
    admin.enable().unwrap();
    let begin = Instant::now();
    // Its thread may still be on its way out.
    while served.server.connections() > 1 && begin.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut io = served.connect(1, controller, &served.nqn);
    let read = io.run(Request::read(1, 0, 1, BLOCK as u32)).unwrap();
    assert_eq!(read.data, [1; BLOCK]);
    // It may say that it leaves.
    let leave = Request {
        opcode: opcode::FABRICS,
        namespace: opcode::fabrics::DISCONNECT.into(),
        ..Request::default()
    };
    assert_eq!(io.run(leave).unwrap().status, 0);
    assert_eq!(io.stream.read(&mut [0; 8]).unwrap_or(0), 0);
}

#[test]
fn a_host_that_gives_no_sign_of_life_is_given_up() {
    let disk = Arc::new(Disk::default());
    let served = serve(&disk);
    let (mut admin, _) = served.admin();
    let timer = plain(opcode::admin::SET_FEATURES, 0, [0xf, 300, 0, 0, 0, 0]);
    assert_eq!(admin.run(timer).unwrap().status, 0);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(1500) {
        std::thread::sleep(Duration::from_millis(150));
        let alive = admin.run(plain(opcode::admin::KEEP_ALIVE, 0, [0; 6]));
        assert_eq!(alive.unwrap().status, 0);
    }
    served.wait_until_alone();
    let reports = served.reports.lock().unwrap();
    assert!(reports[0].contains("the host's keep alive timer has expired"), "{reports:?}");
}

#[test]
fn the_discovery_service_says_where_the_drive_is() {
    let disk = Arc::new(Disk::default());
    let served = serve(&disk);
    let mut host = served.connect(0, u16::MAX, DISCOVERY_NQN);
    host.set_property(0x14, 1).unwrap();
    let dwords = [0x70 | 767 << 16, 0, 0, 0, 0, 0];
    let found = host.run(asking(opcode::admin::GET_LOG_PAGE, 0, dwords, 3072)).unwrap();
    let entries = fields(&found);
    assert_eq!((entries.u64(8), entries.u8(1024 + 2), entries.u8(2048 + 2)), (2, 3, 2));
    assert_eq!(entries.text(2048 + 256, 256), served.nqn);
    assert_eq!(entries.text(2048 + 32, 32).trim_end(), served.address.port().to_string());
    assert_eq!(entries.text(2048 + 512, 256).trim_end(), "127.0.0.1");
}

#[test]
fn a_host_that_violates_the_protocol_is_told_and_reported() {
    let disk = Arc::new(Disk::default());
    let served = serve(&disk);
    let (mut admin, _) = served.admin();
    admin.put(0x42, 0, &[0; 16], &[]);
    let error = admin.wait().unwrap_err().to_string();
    assert_eq!(error, "terminated: error 1, information 0x0");
    served.wait_until_alone();
    let reports = served.reports.lock().unwrap();
    assert!(reports[0].contains("a unit of type 0x42 and 24 bytes"), "{reports:?}");
}

#[test]
fn who_sends_a_part_of_its_data_and_no_more_makes_way_for_others() {
    // Memory for the data of two connections.
    let limits = Limits { incomplete_bytes: 4 << 20, ..Limits::default() };
    let served = serve_with(&Arc::default(), ServerOptions { limits, ..ServerOptions::default() });
    let (_admin, controller) = served.admin();
    let megabyte = |first: u64, byte: u8| Request::write(1, first, 256, vec![byte; 1 << 20]);
    let stalled: Vec<Host> = (0..4)
        .map(|index| {
            let mut host = served.connect(2 * (index + 1), controller, &served.nqn);
            let id = host.submit(megabyte(0, 7));
            host.send().unwrap();
            let mut unit = [0; Data::BYTES];
            Data { command: id, tag: 0, offset: 0, bytes: 1000 }.put(&mut unit);
            // It does not wait for the request, which is there before that.
            host.stream.read_exact(&mut [0; 24]).unwrap();
            host.put(kind::HOST_DATA, 0, &unit[Header::BYTES..], &[7; 1000]);
            host.send().unwrap();
            host
        })
        .collect();
    let mut host = served.connect(1, controller, &served.nqn);
    for first in [512, 1024] {
        assert_eq!(host.run(megabyte(first, 9)).unwrap().status, 0);
    }
    // Two of them had to go, or three; the drive has nothing of theirs.
    let read = host.run(Request::read(1, 0, 1, BLOCK as u32)).unwrap();
    assert_eq!(read.data, [0; BLOCK]);
    let gone = stalled.into_iter().filter(|host| {
        let mut stream = host.stream();
        stream.set_nonblocking(true).unwrap();
        !stream.read(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    });
    assert!(gone.count() >= 2);
}
