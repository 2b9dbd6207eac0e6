//! Connecting, and commands of the admin queue.

use super::bench::{
    BYTES, Disk, HOST, Host, Pipe, admin, asking, fields, identify, io_queue, log, plain, subsystem,
};
use crate::net::Conversation;
use crate::nvme::initiator::{Done, Initiator, Request};
use crate::nvme::layout::{DISCOVERY_NQN, Status, opcode};
use crate::nvme::{Subsystem, SubsystemOptions};
use std::sync::Arc;
use std::time::Instant;

fn new() -> (Arc<Disk>, Subsystem) {
    let disk = Arc::new(Disk::default());
    let subsystem = subsystem(&disk, SubsystemOptions { namespaces: 2, ..Default::default() });
    (disk, subsystem)
}

/// What Connect is refused with.
fn refused(
    subsystem: &Subsystem,
    queue: u16,
    size: u16,
    controller: u16,
    names: [&str; 2],
) -> String {
    let mut host = Initiator::begin(Pipe::new(subsystem), false).unwrap();
    let connected = host.connect(queue, size, controller, names[0], names[1]);
    assert!(host.stream.queue.is_handshake());
    connected.unwrap_err().to_string()
}

#[test]
fn connect_says_which_parameter_is_wrong() {
    let disk = Arc::new(Disk::default());
    let allow_hosts = vec![HOST.to_owned()];
    let subsystem = subsystem(&disk, SubsystemOptions { allow_hosts, ..Default::default() });
    let nqn = subsystem.nqn().to_owned();
    let names = [&*nqn, HOST];
    let say =
        |status, parameter: u32| format!("Connect: status {status}, parameter {parameter:#x}");
    let any = u16::MAX;
    let of_data = 1 << 16;
    assert_eq!(refused(&subsystem, 0, 32, any, ["nqn.other", HOST]), say("0x182", of_data | 256));
    assert_eq!(refused(&subsystem, 0, 32, any, [&nqn, "host"]), say("0x182", of_data | 512));
    assert_eq!(refused(&subsystem, 0, 32, any, [&nqn, "nqn.x"]), say("0x184", of_data | 512));
    assert_eq!(refused(&subsystem, 0, 32, 5, names), say("0x182", of_data | 16));
    assert_eq!(refused(&subsystem, 0, 1, any, names), say("0x182", 44));
    assert_eq!(refused(&subsystem, 0, 200, any, names), say("0x182", 44));
    assert_eq!(refused(&subsystem, 1, 32, 9, names), say("0x182", of_data | 16));
    let (mut host, controller) = admin(&subsystem);
    assert_eq!(refused(&subsystem, 1, 2000, controller, names), say("0x182", 44));
    assert_eq!(refused(&subsystem, 999, 32, controller, names), say("0x182", 42));
    let _first = io_queue(&subsystem, controller, false);
    assert_eq!(refused(&subsystem, 1, 32, controller, names), say("0xc", 0), "it is there");
    host.set_property(0x14, 0).unwrap();
    assert_eq!(refused(&subsystem, 2, 32, controller, names), say("0xc", 0), "it is not enabled");
    // Anybody may ask what there is.
    let mut discovery = Initiator::begin(Pipe::new(&subsystem), false).unwrap();
    discovery.connect(0, 32, any, DISCOVERY_NQN, "nqn.x").unwrap();
}

#[test]
fn nothing_is_done_before_connect_and_little_before_the_controller_is_enabled() {
    let (_disk, subsystem) = new();
    let mut host = Initiator::begin(Pipe::new(&subsystem), false).unwrap();
    let identify = || asking(opcode::admin::IDENTIFY, 0, [1, 0, 0, 0, 0, 0], 4096);
    let status = |done: Done| done.status;
    assert_eq!(status(host.run(identify()).unwrap()), Status::DATA_LENGTH.code());
    host.connect(0, 32, u16::MAX, subsystem.nqn(), HOST).unwrap();
    assert_eq!(status(host.run(identify()).unwrap()), Status::SEQUENCE.code());
    let get = |offset: u32, size: u32| Request {
        opcode: opcode::FABRICS,
        namespace: opcode::fabrics::PROPERTY_GET.into(),
        dwords: [size, offset, 0, 0, 0, 0],
        ..Request::default()
    };
    let capabilities = host.run(get(0, 1)).unwrap();
    // 1,024 entries, ready within 10 seconds, NVM among other command sets.
    assert_eq!(capabilities.result & 0xffff, 1023);
    assert_eq!((capabilities.result >> 24 & 0xff, capabilities.result >> 37 & 0x41), (20, 0x41));
    assert_eq!(host.run(get(8, 0)).unwrap().result, 0x0002_0100);
    assert_eq!(host.run(get(0x1c, 0)).unwrap().result, 0);
    for (offset, size) in [(0, 0), (8, 1), (0x1c, 2), (0x24, 0)] {
        assert_eq!(status(host.run(get(offset, size)).unwrap()), Status::INVALID_FIELD.code());
    }
    host.set_property(0x14, 0x0001_0001).unwrap();
    assert_eq!(host.run(get(0x1c, 0)).unwrap().result, 2, "entries of a wrong size are fatal");
    host.set_property(0x14, 0).unwrap();
    host.enable().unwrap();
    assert_eq!(host.run(get(0x1c, 0)).unwrap().result, 1);
    assert_eq!(status(host.run(identify()).unwrap()), 0);
    assert!(host.set_property(0x1c, 0).is_err());
}

#[test]
fn a_shutdown_makes_everything_durable() {
    let (disk, subsystem) = new();
    let (mut host, _) = admin(&subsystem);
    host.set_property(0x14, 0x0046_4001).unwrap();
    assert_eq!(disk.flushes(), 1);
    host.set_property(0x14, 0x0046_4001).unwrap();
    assert_eq!(disk.flushes(), 1, "once");
}

#[test]
fn controllers_namespaces_and_lists_are_identified() {
    let (_disk, subsystem) = new();
    let (mut host, controller) = admin(&subsystem);
    let (_other, other) = admin(&subsystem);
    let blocks = BYTES / 2 / 4096;
    let done = identify(&mut host, 1, 0);
    let found = fields(&done);
    assert_eq!((found.u16(78), found.u8(111), found.u32(516)), (controller, 1, 2));
    assert_eq!((found.u32(96) >> 19 & 1, found.text(768, 256)), (1, subsystem.nqn()));
    let done = identify(&mut host, 0, 2);
    assert_eq!((fields(&done).u64(0), fields(&done).u8(130)), (blocks, 12));
    assert_eq!(fields(&identify(&mut host, 0, u32::MAX)).u64(0), 0, "what all have in common");
    let list = |done: Done| [0, 4, 8].map(|at| fields(&done).u32(at));
    assert_eq!(list(identify(&mut host, 2, 0)), [1, 2, 0]);
    assert_eq!(list(identify(&mut host, 7, 1)), [2, 0, 0]);
    assert_eq!(list(identify(&mut host, 0x10, 2)), [0; 3]);
    let done = identify(&mut host, 3, 1);
    assert_eq!((fields(&done).u16(0), fields(&done).u16(20)), (0x1002, 0x1003));
    let short = |done: Done| [0, 2, 4, 6].map(|at| fields(&done).u16(at));
    assert_eq!(short(identify(&mut host, 0x13, 0)), [2, controller, other, 0]);
    assert_eq!(short(identify(&mut host, 0x13 | u32::from(other) << 16, 0)), [1, other, 0, 0]);
    assert_eq!(short(identify(&mut host, 0x12, 1)), [2, controller, other, 0]);
    assert_eq!(short(identify(&mut host, 0x19, 0)), [1, 1, 0, 0]);
    assert_eq!(short(identify(&mut host, 0x1c, 0))[0], 1);
    for (asked, namespace) in [(5, 1), (6, 0), (8, 1), (0x11, 1)] {
        assert_eq!(identify(&mut host, asked, namespace).status, 0, "{asked:#x}");
    }
    let of_zones = asking(opcode::admin::IDENTIFY, 1, [5, 2 << 24, 0, 0, 0, 0], 4096);
    assert_eq!(host.run(of_zones).unwrap().status, Status::INVALID_FIELD.code());
    for (asked, namespace, status) in [
        (0, 3, Status::INVALID_NAMESPACE),
        (3, 0, Status::INVALID_NAMESPACE),
        (2, u32::MAX, Status::INVALID_NAMESPACE),
        (0x17, 0, Status::INVALID_FIELD),
    ] {
        assert_eq!(identify(&mut host, asked, namespace).status, status.code(), "{asked:#x}");
    }
}

#[test]
fn features_are_set_and_told() {
    let (_disk, subsystem) = new();
    let (mut host, _) = admin(&subsystem);
    let get = |host: &mut Host, id: u32, value: u32, room: u32| {
        host.run(asking(opcode::admin::GET_FEATURES, 1, [id, value, 0, 0, 0, 0], room)).unwrap()
    };
    let set = |host: &mut Host, id: u32, value: u32, data: &[u8]| {
        let data = data.to_vec();
        let dwords = [id, value, 1, 0, 0, 0];
        host.run(Request {
            opcode: opcode::admin::SET_FEATURES,
            namespace: 1,
            dwords,
            data,
            room: 0,
        })
        .unwrap()
    };
    for (id, value, then) in
        [(1, 0x77, 0x77), (5, 9, 9), (6, 0, 0), (0xa, 1, 1), (0xb, 5, 5), (2, 0, 0)]
    {
        assert_eq!(set(&mut host, id, value, &[]).status, 0, "{id:#x}");
        assert_eq!(get(&mut host, id, 0, 0).result, then, "{id:#x}");
    }
    assert_eq!(set(&mut host, 7, 3 | 500 << 16, &[]).result, 3 | 127 << 16);
    assert_eq!(get(&mut host, 7, 0, 0).result, 127 | 127 << 16);
    assert_eq!(set(&mut host, 4, 350, &[]).status, 0);
    assert_eq!((get(&mut host, 4, 0, 0).result, get(&mut host, 4, 1 << 20, 0).result), (350, 0));
    assert_eq!(set(&mut host, 0xe, 0, &1000_u64.to_le_bytes()).status, 0);
    let stamp = get(&mut host, 0xe, 0, 8);
    assert!((1000..60_000).contains(&(fields(&stamp).u64(0) & 0xffff_ffff)));
    assert_eq!(fields(&stamp).u8(6), 2, "it comes from the host");
    assert_eq!(fields(&get(&mut host, 0x81, 1, 16)).u128(0), 7);
    assert_eq!((get(&mut host, 0x1d, 1, 0).result, set(&mut host, 0x1d, 1, &[]).status), (1, 0));
    // What it was by default, and what it can do.
    assert_eq!((get(&mut host, 0x106, 0, 0).result, get(&mut host, 0x306, 0, 0).result), (1, 4));
    assert_eq!(get(&mut host, 0x31d, 1, 0).result, 0);
    for (id, value, status) in [
        (0x8000_0001, 0, Status::NOT_SAVEABLE),
        (0x81, 0, Status::NOT_CHANGEABLE),
        (0x99, 0, Status::INVALID_FIELD),
        (2, 1, Status::INVALID_FIELD),
        (0x1d, 7, Status::INVALID_FIELD),
        (0xe, 0, Status::DATA_LENGTH),
    ] {
        assert_eq!(set(&mut host, id, value, &[]).status, status.code(), "{id:#x}");
    }
    // A reset forgets all of it.
    host.set_property(0x14, 0).unwrap();
    host.enable().unwrap();
    assert_eq!((get(&mut host, 1, 0, 0).result, get(&mut host, 6, 0, 0).result), (0, 1));
}

#[test]
fn log_pages_are_those_that_are_said_to_be_there() {
    let (_disk, subsystem) = new();
    let (mut host, _) = admin(&subsystem);
    let supported = log(&mut host, 0, 0, 1024);
    let mut known = 0;
    for id in 0..256 {
        let is_there = fields(&supported).u32(4 * id as usize) != 0;
        let status = log(&mut host, id, 0, 64).status;
        assert_eq!(status, if is_there { 0 } else { Status::INVALID_LOG.code() }, "{id:#x}");
        known += u32::from(is_there);
    }
    assert_eq!(known, 14);
    let smart = log(&mut host, 2, 0, 512);
    assert_eq!((fields(&smart).u128(48), fields(&smart).u8(3)), (8, 100), "1,000 pages");
    assert_eq!(fields(&log(&mut host, 0x22, 0, 64)).u128(16), 1500 * 4096);
    assert_eq!(fields(&log(&mut host, 0x22, 0, 64)).u128(32), 3 << 20);
    assert_eq!(fields(&log(&mut host, 0x20, 0, 128)).u16(24), 4);
    // A part of it, and what is beyond.
    let part = |offset: u32| {
        let dwords = [2 | 3 << 16, 0, offset, 0, 0, 0];
        asking(opcode::admin::GET_LOG_PAGE, u32::MAX, dwords, 16)
    };
    assert_eq!(fields(&host.run(part(48)).unwrap()).u128(0), 8);
    for offset in [3, 516] {
        assert_eq!(host.run(part(offset)).unwrap().status, Status::INVALID_FIELD.code());
    }
    let of_group_2 = asking(opcode::admin::GET_LOG_PAGE, 0, [9 | 3 << 16, 2 << 16, 0, 0, 0, 0], 16);
    assert_eq!(host.run(of_group_2).unwrap().status, Status::INVALID_FIELD.code());
    let errors = log(&mut host, 1, 0, 4096);
    assert_eq!(fields(&errors).u16(12) >> 1 & 0x7ff, Status::INVALID_FIELD.code());
}

#[test]
fn data_units_are_counted_of_what_the_host_sent() {
    let (_disk, subsystem) = new();
    let (mut host, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, false);
    let units = |host: &mut Host| {
        let smart = log(host, 2, 0, 512);
        [32, 48, 64, 80].map(|at| fields(&smart).u128(at))
    };
    assert_eq!(units(&mut host), [0, 8, 0, 0], "1,000 pages were written before that");
    for block in 0..125 {
        io.run(Request::write(1, block, 1, vec![1; 4096])).unwrap();
    }
    io.run(Request::read(1, 0, 125, 125 * 4096)).unwrap();
    // 512,000 bytes each.
    assert_eq!(units(&mut host), [1, 9, 1, 125]);
    io.run(Request::read(1, 0, 1, 4096)).unwrap();
    assert_eq!(units(&mut host), [2, 9, 2, 125]);
}

#[test]
fn format_and_sanitize_leave_nothing_and_tell_hosts() {
    let (disk, subsystem) = new();
    let (mut host, controller) = admin(&subsystem);
    let mut io = io_queue(&subsystem, controller, false);
    let fill = |io: &mut Host| {
        for namespace in [1, 2] {
            io.run(Request::write(namespace, 0, 1, vec![1; 4096])).unwrap();
        }
    };
    let left = || [0, BYTES / 2].map(|at| disk.content(at, 1)[0]);
    fill(&mut io);
    let format =
        |namespace: u32, bits: u32| plain(opcode::admin::FORMAT, namespace, [bits, 0, 0, 0, 0, 0]);
    assert_eq!(host.run(format(1, 2 << 9)).unwrap().status, 0);
    assert_eq!((left(), disk.flushes()), ([0, 1], 1));
    assert_eq!(host.run(format(u32::MAX, 0)).unwrap().status, 0);
    assert_eq!(left(), [0, 0]);
    assert_eq!(host.run(format(1, 1)).unwrap().status, Status::INVALID_FORMAT.code());
    assert_eq!(host.run(format(3, 0)).unwrap().status, Status::INVALID_NAMESPACE.code());

    fill(&mut io);
    let event = host.submit(plain(opcode::admin::ASYNC_EVENT, 0, [0; 6]));
    let sanitize = host.submit(plain(opcode::admin::SANITIZE, 0, [4, 0, 0, 0, 0, 0]));
    assert_eq!(host.wait().unwrap().id, sanitize);
    let told = host.wait().unwrap();
    assert_eq!((told.id, told.result, left()), (event, 6 | 1 << 8 | 0x81 << 16, [0, 0]));
    let status = log(&mut host, 0x81, 0, 512);
    assert_eq!((fields(&status).u16(2), fields(&status).u32(4)), (1, 4));
}

#[test]
fn requests_for_events_are_limited_and_can_be_aborted() {
    let disk = Arc::new(Disk { is_read_only: true, ..Disk::default() });
    let subsystem = subsystem(&disk, SubsystemOptions::default());
    let (mut host, _) = admin(&subsystem);
    let request = || plain(opcode::admin::ASYNC_EVENT, 0, [0; 6]);
    let ids: Vec<_> = (0..4).map(|_| host.submit(request())).collect();
    assert_eq!(host.run(request()).unwrap().status, Status::AER_LIMIT.code());
    let abort = |id: u16| plain(opcode::admin::ABORT, 0, [u32::from(id) << 16, 0, 0, 0, 0, 0]);
    let aborting = host.submit(abort(ids[1]));
    let aborted = host.wait().unwrap();
    assert_eq!((aborted.id, aborted.status), (ids[1], Status::ABORTED.code()));
    assert_eq!((host.wait().unwrap().id, host.run(abort(ids[1])).unwrap().result), (aborting, 1));
    // The drive is read-only: the host is told once it wants to know.
    assert!(host.stream.queue.wakes_at().is_some_and(|at| at <= Instant::now()));
    let enable = plain(opcode::admin::SET_FEATURES, 0, [0xb, 1 << 3, 0, 0, 0, 0]);
    assert_eq!(host.run(enable).unwrap().status, 0);
    host.stream.wake();
    let told = host.wait().unwrap();
    assert_eq!((told.id, told.result), (ids[0], 1 | 2 << 16));
}

#[test]
fn a_discovery_controller_has_little_else() {
    let (_disk, subsystem) = new();
    let mut host = Initiator::begin(Pipe::new(&subsystem), false).unwrap();
    let controller = host.connect(0, 32, u16::MAX, DISCOVERY_NQN, HOST).unwrap();
    host.set_property(0x14, 1).unwrap();
    let done = identify(&mut host, 1, 0);
    assert_eq!((fields(&done).u8(111), fields(&done).text(768, 256)), (2, DISCOVERY_NQN));
    assert_eq!(identify(&mut host, 2, 0).status, Status::INVALID_FIELD.code());
    assert_eq!(log(&mut host, 2, 0, 512).status, Status::INVALID_LOG.code());
    assert_eq!(log(&mut host, 0x70, 0, 1024).status, 0);
    let format = plain(opcode::admin::FORMAT, u32::MAX, [0; 6]);
    assert_eq!(host.run(format).unwrap().status, Status::INVALID_OPCODE.code());
    let cache = asking(opcode::admin::GET_FEATURES, 0, [6, 0, 0, 0, 0, 0], 0);
    assert_eq!(host.run(cache).unwrap().status, Status::INVALID_FIELD.code());
    let names = [subsystem.nqn(), HOST];
    let error = refused(&subsystem, 1, 32, controller, names);
    assert!(error.ends_with("parameter 0x2a"), "{error}");
}
