//! A host and a controller in one thread, and a drive in memory that remembers what was asked of it.

use crate::net::{Conversation, Link, Replies};
use crate::nvme::initiator::{Done, Initiator, Request};
use crate::nvme::layout::{Data, Header, Reader, flag, kind, opcode};
use crate::nvme::queue::Queue;
use crate::nvme::{Subsystem, SubsystemOptions};
use crate::{BlockMap, DriveStatus, Observed, Placement, PlacementHandle, Ram};
use ftlab_drive::Store;
use ftlab_ftl::{HandleEvent, HandleEventKind};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

pub(super) const BYTES: u64 = 16 << 20;
pub(super) const BLOCK: usize = 4096;
pub(super) const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:host";

/// A drive in memory.
pub(super) struct Disk {
    pub(super) ram: Ram,
    /// The streams of writes.
    pub(super) streams: Mutex<Vec<u16>>,
    pub(super) flushes: AtomicU32,
    pub(super) is_read_only: bool,
    /// Reads that contain this byte fail.
    pub(super) unreadable: Option<u64>,
    /// Placement handles.
    pub(super) handles: usize,
    /// What has happened to them.
    pub(super) events: Mutex<Vec<HandleEvent>>,
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            ram: Ram::new(BYTES),
            streams: Mutex::default(),
            flushes: AtomicU32::new(0),
            is_read_only: false,
            unreadable: None,
            handles: 4,
            events: Mutex::default(),
        }
    }
}

impl Disk {
    pub(super) fn content(&self, offset: u64, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        self.ram.read(offset, &mut data).unwrap();
        data
    }

    pub(super) fn flushes(&self) -> u32 {
        self.flushes.load(Ordering::Relaxed)
    }
}

impl Store for Disk {
    fn bytes(&self) -> u64 {
        self.ram.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.ram.block_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if self.unreadable.is_some_and(|at| (offset..offset + data.len() as u64).contains(&at)) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is damaged"));
        }
        self.ram.read(offset, data)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_stream(offset, data, 0)
    }

    fn write_stream(&self, offset: u64, data: &[u8], stream: u16) -> io::Result<()> {
        if self.is_read_only {
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "it is read-only"));
        }
        self.streams.lock().unwrap().push(stream);
        self.ram.write(offset, data)
    }

    fn renew_handle(&self, handle: u16) -> io::Result<bool> {
        if self.is_read_only {
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "it is read-only"));
        }
        let kind = HandleEventKind::NotFullyWritten;
        let event = HandleEvent { kind, write_clock: 0, handle, named: handle, pages: 7 };
        self.events.lock().unwrap().push(event);
        Ok(true)
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.ram.trim(offset, bytes)
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()> {
        self.ram.write_zeroes(offset, bytes, may_trim)
    }

    fn flush(&self) -> io::Result<()> {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Observed for Disk {
    fn status(&self) -> DriveStatus {
        let mut status = self.ram.status();
        status.flash.host_pages = 1000;
        status.flash.relocated_pages = 500;
        status.flash.erased_blocks = 3;
        status.mapped_pages = 10;
        if self.is_read_only {
            status.health.read_only = Some("worn out".to_owned());
        }
        status
    }

    fn block_map(&self) -> BlockMap {
        BlockMap { erases: vec![3, 9], ..BlockMap::default() }
    }

    fn placement(&self) -> Option<Placement> {
        let handle = |index: usize| PlacementHandle {
            is_persistent: index == 1,
            left_bytes: (index as u64 + 1) << 16,
            host_bytes: (index as u64 + 1) * 100 * BLOCK as u64,
            media_bytes: (index as u64 + 1) * 150 * BLOCK as u64,
            moved_bytes: (index as u64 + 1) * 50 * BLOCK as u64,
            erased_bytes: (index as u64 / 2) << 20,
            units: 2,
        };
        let handles: Vec<_> = (0..self.handles).map(handle).collect();
        let events = self.events.lock().unwrap().clone();
        (self.handles > 0).then_some(Placement {
            unit_bytes: 1 << 20,
            handles,
            shared_units: 1,
            shared_erased_bytes: 1 << 20,
            logged: events.len() as u64,
            events,
        })
    }
}

/// A subsystem over a disk.
pub(super) fn subsystem(disk: &Arc<Disk>, options: SubsystemOptions) -> Subsystem {
    Subsystem::new(Arc::clone(disk) as _, Arc::clone(disk) as _, options).unwrap()
}

/// A stream whose other end is a queue.
pub(super) struct Pipe<'a> {
    pub(super) queue: Queue<'a>,
    replies: Replies,
    input: Vec<u8>,
    output: VecDeque<u8>,
    /// At most this many bytes arrive at once.
    pub(super) piece: usize,
}

impl<'a> Pipe<'a> {
    pub(super) fn new(subsystem: &'a Subsystem) -> Self {
        Self {
            queue: Queue::new(subsystem, Link::default()),
            replies: Replies::default(),
            input: Vec::new(),
            output: VecDeque::new(),
            piece: usize::MAX,
        }
    }

    /// Lets the queue process what it has.
    pub(super) fn work(&mut self) {
        loop {
            let used = self.queue.feed(&self.input, &mut self.replies);
            self.input.drain(..used);
            let was_full = self.replies.is_full();
            self.replies.release();
            self.output.extend(self.replies.bytes());
            self.replies.clear();
            if !was_full {
                break;
            }
        }
        assert!(self.queue.is_closed() || self.input.len() <= self.queue.input_bytes());
    }

    /// What the host has received and not read.
    pub(super) fn received(&mut self) -> Vec<u8> {
        self.output.drain(..).collect()
    }

    /// Lets the time come for which the queue waits.
    pub(super) fn wake(&mut self) {
        self.queue.wake(&mut self.replies);
        self.work();
    }
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.piece);
        self.input.extend_from_slice(&bytes[..taken]);
        self.work();
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.output.read(buffer)
    }
}

pub(super) type Host<'a> = Initiator<Pipe<'a>>;

/// A connected queue of a controller that is enabled: the admin queue, and the controller's number.
pub(super) fn admin(subsystem: &Subsystem) -> (Host<'_>, u16) {
    let mut host = Initiator::begin(Pipe::new(subsystem), false).unwrap();
    let controller = host.connect(0, 32, u16::MAX, subsystem.nqn(), HOST).unwrap();
    host.enable().unwrap();
    (host, controller)
}

/// An I/O queue of a controller.
pub(super) fn io_queue(subsystem: &Subsystem, controller: u16, digests: bool) -> Host<'_> {
    let mut host = Initiator::begin(Pipe::new(subsystem), digests).unwrap();
    host.connect(1, 128, controller, subsystem.nqn(), HOST).unwrap();
    host
}

/// Submits a command whose data are not in its capsule, and takes the requests for data; returns its number.
pub(super) fn announce(host: &mut Host, request: Request) -> u16 {
    host.in_capsule_bytes = 0;
    let id = host.submit(request);
    host.send().unwrap();
    host.stream.received();
    id
}

/// Sends a unit with a part of the data of a command that was asked for with tag 0, the last one if it ends after all
/// `total` bytes.
pub(super) fn send_part(host: &mut Host, id: u16, at: usize, part: &[u8], total: usize) {
    send_tagged(host, id, 0, at, part, total);
}

/// Sends a part of the data of a command that was asked for with `tag`.
pub(super) fn send_tagged(
    host: &mut Host,
    id: u16,
    tag: u16,
    at: usize,
    part: &[u8],
    total: usize,
) {
    let mut unit = [0; Data::BYTES];
    Data { command: id, tag, offset: at as u32, bytes: part.len() as u32 }.put(&mut unit);
    let flags = if at + part.len() == total { flag::LAST } else { 0 };
    host.put(kind::HOST_DATA, flags, &unit[Header::BYTES..], part);
    host.send().unwrap();
}

/// A command of the admin queue that asks for data.
pub(super) fn asking(opcode: u8, namespace: u32, dwords: [u32; 6], room: u32) -> Request {
    Request { opcode, namespace, dwords, room, data: Vec::new() }
}

/// A command without data.
pub(super) fn plain(opcode: u8, namespace: u32, dwords: [u32; 6]) -> Request {
    asking(opcode, namespace, dwords, 0)
}

pub(super) fn identify(host: &mut Host, asked: u32, namespace: u32) -> Done {
    host.run(asking(opcode::admin::IDENTIFY, namespace, [asked, 0, 0, 0, 0, 0], 4096)).unwrap()
}

/// A log page, of the endurance group.
pub(super) fn log(host: &mut Host, id: u32, specific: u32, bytes: u32) -> Done {
    let dwords = [id | specific << 8 | (bytes / 4 - 1) << 16, 1 << 16, 0, 0, 0, 0];
    host.run(asking(opcode::admin::GET_LOG_PAGE, u32::MAX, dwords, bytes)).unwrap()
}

/// Fields of what was returned, which was.
pub(super) fn fields(done: &Done) -> Reader<'_> {
    assert_eq!(done.status, 0);
    Reader(&done.data)
}
