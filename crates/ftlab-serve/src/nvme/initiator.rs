//! A small host, for tests and measurements: one queue over any stream.

use super::layout::{
    Command, Completion, ConnectData, Data, Header, InitRequest, InitResponse, ReadyToTransfer,
    SGL_IN_CAPSULE, SGL_TRANSPORT, Sgl, Termination, flag, kind, opcode,
};
use super::{ADMIN_IN_CAPSULE_BYTES, IN_CAPSULE_BYTES};
use std::collections::HashMap;
use std::io::{self, Read, Write};

/// An attribute of Connect: the host does not ask how far its queue has been emptied.
const NO_FLOW_CONTROL: u32 = 1 << 2;

const DIGEST_BYTES: usize = 4;

/// A command, without its number.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Its code.
    pub opcode: u8,
    /// NSID.
    pub namespace: u32,
    /// Command dwords 10 to 15.
    pub dwords: [u32; 6],
    /// Data for the controller.
    pub data: Vec<u8>,
    /// The most data for the host.
    pub room: u32,
}

impl Request {
    /// A command that names blocks, which are `bytes` long all together, in dwords 10 to 12.
    fn of_blocks(opcode: u8, namespace: u32, first: u64, blocks: u32) -> Self {
        let dwords = [first as u32, (first >> 32) as u32, blocks - 1, 0, 0, 0];
        Self { opcode, namespace, dwords, ..Self::default() }
    }

    /// Reads `blocks`, which take `bytes`.
    pub fn read(namespace: u32, first: u64, blocks: u32, bytes: u32) -> Self {
        Self { room: bytes, ..Self::of_blocks(opcode::io::READ, namespace, first, blocks) }
    }

    /// Writes `data` to `blocks` from `first` on.
    pub fn write(namespace: u32, first: u64, blocks: u32, data: Vec<u8>) -> Self {
        Self { data, ..Self::of_blocks(opcode::io::WRITE, namespace, first, blocks) }
    }

    /// Adds the placement identifier of a directive.
    #[must_use]
    pub fn placed(mut self, identifier: u16) -> Self {
        self.dwords[2] |= 2 << 20;
        self.dwords[3] = u32::from(identifier) << 16;
        self
    }
}

/// What has come of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its number.
    pub id: u16,
    /// Status code type and status code; 0 if it succeeded.
    pub status: u16,
    /// Dwords 0 and 1 of the completion.
    pub result: u64,
    /// Data for the host.
    pub data: Vec<u8>,
}

/// The configuration of a controller, and one that enables it: entries of 64 and 16 bytes.
const CONFIGURATION: u32 = 0x14;
const ENABLED: u32 = 0x0046_0001;

fn connect(queue: u16, entries: u16, controller: u16, subsystem: &str, host: &str) -> Request {
    let (subsystem, host) = (subsystem.to_owned(), host.to_owned());
    let data = ConnectData { host_id: 7, controller, subsystem, host };
    let size = u32::from(entries - 1) | NO_FLOW_CONTROL << 16;
    Request {
        opcode: opcode::FABRICS,
        namespace: opcode::fabrics::CONNECT.into(),
        dwords: [u32::from(queue) << 16, size, 0, 0, 0, 0],
        data: data.encode(),
        room: 0,
    }
}

/// Property Set.
fn property(offset: u32, value: u64) -> Request {
    let dwords = [0, offset, value as u32, (value >> 32) as u32, 0, 0];
    let namespace = opcode::fabrics::PROPERTY_SET.into();
    Request { opcode: opcode::FABRICS, namespace, dwords, ..Request::default() }
}

/// What a host sends until its queue is connected, and the controller of an admin queue enabled.
pub(super) fn prologue(nqn: &str, queue: u16, controller: u16, digests: bool) -> Vec<u8> {
    let mut host = Initiator::new(io::empty());
    let bits = if digests { 3 } else { 0 };
    let mut sent = InitRequest { digests: bits, ..InitRequest::default() }.encode().to_vec();
    host.digests = digests;
    host.submit(connect(queue, 32, controller, nqn, "nqn.2014-08.org.nvmexpress:fuzz"));
    if queue == 0 {
        host.submit(property(CONFIGURATION, ENABLED.into()));
    }
    sent.append(&mut host.output);
    sent
}

/// A host's end of a queue.
pub struct Initiator<S> {
    pub(super) stream: S,
    digests: bool,
    /// Digests of data are wrong.
    #[cfg(test)]
    pub(super) data_corrupted: bool,
    /// The most data of a unit, and of a capsule.
    data_bytes_max: usize,
    pub(super) in_capsule_bytes: usize,
    /// Data of commands, in both directions.
    pending: HashMap<u16, Pending>,
    last: u16,
    output: Vec<u8>,
    /// Memory of data that are not needed any more.
    spare: Vec<Vec<u8>>,
    /// The last unit, without data.
    unit: Vec<u8>,
}

#[derive(Default)]
struct Pending {
    to_controller: Vec<u8>,
    to_host: Vec<u8>,
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Whether a digest is that of what it covers.
fn verify(covered: &[u8], digest: &[u8]) -> io::Result<()> {
    let is_right = crc32c::crc32c(covered).to_le_bytes() == digest;
    if is_right { Ok(()) } else { Err(invalid("a digest is wrong".to_owned())) }
}

impl<S: Read + Write> Initiator<S> {
    fn new(stream: S) -> Self {
        Self {
            stream,
            digests: false,
            #[cfg(test)]
            data_corrupted: false,
            data_bytes_max: 0,
            in_capsule_bytes: ADMIN_IN_CAPSULE_BYTES as usize,
            pending: HashMap::new(),
            last: 0,
            output: Vec::new(),
            spare: Vec::new(),
            unit: Vec::new(),
        }
    }

    /// Agrees with the controller on how to talk.
    pub fn begin(stream: S, digests: bool) -> io::Result<Self> {
        let mut initiator = Self::new(stream);
        let bits = if digests { 3 } else { 0 };
        let request = InitRequest { digests: bits, ..InitRequest::default() };
        initiator.stream.write_all(&request.encode())?;
        initiator.receive()?;
        let response = InitResponse::decode(&initiator.unit);
        initiator.digests = response.digests == 3;
        initiator.data_bytes_max = response.data_bytes_max as usize;
        Ok(initiator)
    }

    /// Connects the queue to a controller, or to any; returns its number.
    pub fn connect(
        &mut self,
        queue: u16,
        entries: u16,
        controller: u16,
        subsystem: &str,
        host: &str,
    ) -> io::Result<u16> {
        let done = self.run(connect(queue, entries, controller, subsystem, host))?;
        if done.status != 0 {
            let Done { status, result, .. } = done;
            return Err(invalid(format!("Connect: status {status:#x}, parameter {result:#x}")));
        }
        if queue > 0 {
            self.in_capsule_bytes = IN_CAPSULE_BYTES as usize;
        }
        Ok(done.result as u16)
    }

    /// Enables the controller of the admin queue.
    pub fn enable(&mut self) -> io::Result<()> {
        self.set_property(CONFIGURATION, ENABLED.into())
    }

    /// Writes a register of the controller at `offset` bytes.
    pub fn set_property(&mut self, offset: u32, value: u64) -> io::Result<()> {
        let status = self.run(property(offset, value))?.status;
        if status == 0 { Ok(()) } else { Err(invalid(format!("Property Set: {status:#x}"))) }
    }

    /// Carries out a command, with no other under way.
    pub fn run(&mut self, request: Request) -> io::Result<Done> {
        let id = self.submit(request);
        let done = self.wait()?;
        if done.id == id { Ok(done) } else { Err(invalid(format!("command {} is done", done.id))) }
    }

    /// Submits a command, and returns its number.
    pub fn submit(&mut self, request: Request) -> u16 {
        self.last = self.last.wrapping_add(1);
        let id = self.last;
        let Request { opcode, namespace, dwords, data, room } = request;
        let is_in_capsule = !data.is_empty() && data.len() <= self.in_capsule_bytes;
        let bytes = if data.is_empty() { room } else { data.len() as u32 };
        let kind = if is_in_capsule { SGL_IN_CAPSULE } else { SGL_TRANSPORT };
        let sgl = Sgl { address: 0, bytes, kind };
        let command = Command { opcode, flags: 0x40, id, namespace, sgl, dwords };
        let in_capsule = if is_in_capsule { &data[..] } else { &[] };
        self.put(kind::COMMAND, 0, &command.encode(), in_capsule);
        let to_controller = if is_in_capsule {
            self.spare.push(data);
            Vec::new()
        } else {
            data
        };
        let mut to_host = self.spare.pop().unwrap_or_default();
        to_host.resize(if to_controller.is_empty() { room as usize } else { 0 }, 0);
        self.pending.insert(id, Pending { to_controller, to_host });
        id
    }

    /// Takes back the memory of data, to be used again.
    pub fn reuse(&mut self, done: Done) {
        self.spare.push(done.data);
    }

    /// The connection that capsules travel on.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Memory that is not needed any more, without content.
    pub fn spare(&mut self) -> Vec<u8> {
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        memory
    }

    /// Adds a unit to what is sent next: the header after the common part, and data.
    pub(super) fn put(&mut self, kind: u8, flags: u8, rest: &[u8], data: &[u8]) {
        let digest_bytes = if self.digests { DIGEST_BYTES } else { 0 };
        let header_bytes = Header::BYTES + rest.len();
        let start = header_bytes + digest_bytes;
        let has_data = !data.is_empty();
        let bytes = start + data.len() + if has_data { digest_bytes } else { 0 };
        let mut flags = flags;
        if self.digests {
            flags |= flag::HEADER_DIGEST | if has_data { flag::DATA_DIGEST } else { 0 };
        }
        let header = Header {
            kind,
            flags,
            length: header_bytes as u8,
            data_offset: if has_data { start as u8 } else { 0 },
            bytes: bytes as u32,
        };
        let at = self.output.len();
        self.output.resize(at + Header::BYTES, 0);
        header.put(&mut self.output[at..]);
        self.output.extend_from_slice(rest);
        if self.digests {
            let digest = crc32c::crc32c(&self.output[at..]).to_le_bytes();
            self.output.extend_from_slice(&digest);
        }
        self.output.extend_from_slice(data);
        if self.digests && has_data {
            let digest = crc32c::crc32c(data);
            #[cfg(test)]
            let digest = digest ^ u32::from(self.data_corrupted);
            self.output.extend_from_slice(&digest.to_le_bytes());
        }
    }

    /// Sends what has been submitted.
    pub fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }

    /// Sends what has been submitted, and waits for the next command that is done.
    pub fn wait(&mut self) -> io::Result<Done> {
        self.send()?;
        self.receive_done()
    }

    /// Waits for the next command that is done.
    pub fn receive_done(&mut self) -> io::Result<Done> {
        loop {
            let header = self.receive()?;
            match header.kind {
                kind::RESPONSE => {
                    let completion = Completion::decode(&self.unit[Header::BYTES..]);
                    return Ok(self.done(
                        completion.id,
                        completion.result,
                        completion.status.code(),
                    ));
                }
                kind::READY_TO_TRANSFER => self.transfer()?,
                kind::CONTROLLER_DATA => {
                    let command = Data::decode(&self.unit).command;
                    if header.flags & flag::SUCCESS != 0 {
                        return Ok(self.done(command, 0, 0));
                    }
                }
                _ => {
                    let Termination { status, information } = Termination::decode(&self.unit);
                    let message =
                        format!("terminated: error {status}, information {information:#x}");
                    return Err(io::Error::new(io::ErrorKind::ConnectionAborted, message));
                }
            }
        }
    }

    fn done(&mut self, id: u16, result: u64, status: u16) -> Done {
        let data = self.pending.remove(&id).unwrap_or_default().to_host;
        Done { id, status, result, data }
    }

    /// Sends the data that the controller asks for.
    fn transfer(&mut self) -> io::Result<()> {
        let ready = ReadyToTransfer::decode(&self.unit);
        let pending = self.pending.get_mut(&ready.command);
        let pending = pending.ok_or_else(|| invalid(format!("{ready:?}")))?;
        let data = std::mem::take(&mut pending.to_controller);
        let pieces = data.chunks(self.data_bytes_max);
        let last = pieces.len() - 1;
        for (index, piece) in pieces.enumerate() {
            let header = Data {
                command: ready.command,
                tag: ready.tag,
                offset: (index * self.data_bytes_max) as u32,
                bytes: piece.len() as u32,
            };
            let mut unit = [0; Data::BYTES];
            header.put(&mut unit);
            let flags = if index == last { flag::LAST } else { 0 };
            self.put(kind::HOST_DATA, flags, &unit[Header::BYTES..], piece);
        }
        self.send()
    }

    /// Receives a unit, and verifies its digests. Data go to where they belong; everything before
    /// them is kept.
    fn receive(&mut self) -> io::Result<Header> {
        let mut common = [0; Header::BYTES];
        self.stream.read_exact(&mut common)?;
        let header = Header::decode(&common).ok_or_else(|| invalid("a header".to_owned()))?;
        let bytes = (header.bytes as usize).max(Header::BYTES);
        let carries_data = header.kind == kind::CONTROLLER_DATA;
        let start = if carries_data { usize::from(header.data_offset) } else { bytes };
        self.unit.resize(start.max(Header::BYTES), 0);
        self.unit[..Header::BYTES].copy_from_slice(&common);
        self.stream.read_exact(&mut self.unit[Header::BYTES..])?;
        if header.flags & flag::HEADER_DIGEST != 0 && self.digests {
            let (covered, rest) = self.unit.split_at(header.length.into());
            verify(covered, &rest[..DIGEST_BYTES])?;
        }
        if carries_data {
            let data = Data::decode(&self.unit);
            let at = data.offset as usize;
            let pending = self.pending.get_mut(&data.command);
            let to = pending.and_then(|it| it.to_host.get_mut(at..at + data.bytes as usize));
            let to = to.ok_or_else(|| invalid(format!("{data:?}")))?;
            self.stream.read_exact(to)?;
            if header.flags & flag::DATA_DIGEST != 0 && self.digests {
                let mut digest = [0; DIGEST_BYTES];
                self.stream.read_exact(&mut digest)?;
                verify(to, &digest)?;
            }
        }
        Ok(header)
    }
}
