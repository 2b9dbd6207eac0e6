//! One connection: a queue, from the first unit of its host to the last (NVMe/TCP 1.1, sections 3.3 to 3.6).

use super::admin;
use super::commands::{self, Answer};
use super::events::Event;
use super::fabrics::{self, Connected, Refusal};
use super::io::{self, Target};
use super::layout::{
    Command, Completion, ConnectData, Data, ErrorEntry, Header, InitRequest, ReadyToTransfer,
    SGL_IN_CAPSULE, SGL_TRANSPORT, Status, Termination, fatal, flag, kind, opcode,
};
use super::output::{Wire, terminate};
use super::subsystem::{Moved, Subsystem};
use super::transfer::{Transfer, Transfers};
use super::unit::{COMMAND_HEADER_BYTES, Expected, Unit};
use super::{ADMIN_IN_CAPSULE_BYTES, ASKED_BYTES_MAX, BUFFERED_BYTES_MAX, IN_CAPSULE_BYTES};
use crate::net::{Lease, Link, Replies};
use ftlab_drive::latency::{set_due, take_due};
use std::time::{Duration, Instant};

/// A read is answered in pieces of this, which end at a multiple of it within the drive, so that memory does
/// not grow with it.
const READ_PIECE_BYTES: u64 = 128 << 10;

/// A queue of a host.
pub(super) struct Queue<'a> {
    pub(super) subsystem: &'a Subsystem,
    link: Link,
    wire: Wire,
    pub(super) phase: Phase,
    pub(super) transfers: Transfers,
    /// Memory for data of commands that are not complete, while there are any.
    lease: Option<Lease>,
    pub(super) reading: Option<Reading>,
    /// What is not yet counted for all queues together: once for each batch of commands.
    pub(super) moved: Moved,
    /// When the host was last heard of, and when events are looked for next.
    heard: Instant,
    pub(super) looks_at: Instant,
}

pub(super) enum Phase {
    /// The host has to begin.
    Greeting,
    /// The host has to connect.
    Connecting,
    /// The queue is at work; and how many commands it has taken, modulo its size.
    Working(Connected, u16),
    /// The connection ends, for this reason if there is one.
    Closed(Option<String>),
}

/// A read, of which a part has been sent.
pub(super) struct Reading {
    /// What is logged if it fails; so the command itself is not copied.
    entry: ErrorEntry,
    at: u64,
    end: u64,
    /// Bytes that have been sent.
    sent: u32,
    due: Option<Instant>,
}

/// The result of processing received bytes.
pub(super) enum Step {
    /// More bytes are needed.
    Starved,
    /// This many have been processed.
    Used(usize),
    /// The connection ends.
    Close(Option<String>),
}

impl<'a> Queue<'a> {
    pub(super) fn new(subsystem: &'a Subsystem, link: Link) -> Self {
        let now = Instant::now();
        Self {
            subsystem,
            link,
            wire: Wire::default(),
            phase: Phase::Greeting,
            transfers: Transfers::default(),
            lease: None,
            reading: None,
            moved: Moved::default(),
            heard: now,
            looks_at: now,
        }
    }

    pub(super) fn connected(&self) -> Option<&Connected> {
        match &self.phase {
            Phase::Working(connected, _) => Some(connected),
            _ => None,
        }
    }

    fn is_admin(&self) -> bool {
        self.connected().is_some_and(|connected| connected.queue == 0)
    }

    /// The most data in a capsule.
    fn in_capsule_bytes(&self) -> usize {
        let is_io = self.connected().is_some_and(|connected| connected.queue > 0);
        if is_io { IN_CAPSULE_BYTES as usize } else { ADMIN_IN_CAPSULE_BYTES as usize }
    }

    /// Processes a unit, if all of it is there.
    pub(super) fn unit(&mut self, input: &[u8], replies: &mut Replies) -> Step {
        let Some(header) = Header::decode(input) else { return Step::Starved };
        let expected = Expected {
            wire: self.wire,
            is_greeting: matches!(self.phase, Phase::Greeting),
            in_capsule_bytes: self.in_capsule_bytes(),
        };
        if let Err(error) = expected.check(header) {
            // The rest of the header may not be there yet.
            return Self::end(error, &input[..Header::BYTES], header, replies);
        }
        let Some(bytes) = input.get(..header.bytes as usize) else { return Step::Starved };
        let unit = match expected.open(header, bytes) {
            Ok(unit) => unit,
            Err(error) => return Self::end(error, bytes, header, replies),
        };
        let done = match header.kind {
            kind::INIT_REQUEST => self.greet(&unit, replies),
            kind::COMMAND => self.command(&unit, replies),
            kind::HOST_DATA => self.receive(&unit, replies),
            _ => {
                let error = Termination::decode(bytes);
                let (status, at) = (error.status, error.information);
                return Step::Close(Some(format!(
                    "the host ended it with error {status} and information {at:#x}"
                )));
            }
        };
        match done {
            Ok(()) => Step::Used(bytes.len()),
            Err(error) => Self::end(error, bytes, header, replies),
        }
    }

    /// Ends the connection because of an error in a unit.
    #[cold]
    fn end(error: Termination, unit: &[u8], header: Header, replies: &mut Replies) -> Step {
        let shown = unit.len().min(header.length.into());
        terminate(error, &unit[..shown.max(Header::BYTES)], replies);
        let Termination { status, information } = error;
        Step::Close(Some(format!(
            "a unit of type {:#04x} and {} bytes is not possible here: error {status}, information \
             {information:#x}",
            header.kind, header.bytes
        )))
    }

    /// Agrees with the host on how to go on.
    fn greet(&mut self, unit: &Unit, replies: &mut Replies) -> Result<(), Termination> {
        const VERSION_AT: u32 = 8;
        const ALIGNMENT_AT: u32 = 10;
        const ALIGNMENT_MAX: u8 = 31;
        let request = InitRequest::decode(unit.bytes);
        let status = fatal::UNSUPPORTED;
        if request.version != 0 {
            return Err(Termination { status, information: VERSION_AT });
        }
        if request.alignment > ALIGNMENT_MAX {
            let status = fatal::HEADER_FIELD;
            return Err(Termination { status, information: ALIGNMENT_AT });
        }
        self.wire = Wire::agree(request);
        self.wire.greet(replies);
        self.phase = Phase::Connecting;
        Ok(())
    }

    /// Takes a command.
    fn command(&mut self, unit: &Unit, replies: &mut Replies) -> Result<(), Termination> {
        let command = Command::decode(&unit.bytes[Header::BYTES..COMMAND_HEADER_BYTES]);
        if let Phase::Working(connected, head) = &mut self.phase {
            // Only admin queues have a timer.
            if connected.queue == 0 {
                self.heard = Instant::now();
            }
            *head = if *head + 1 < connected.entries { *head + 1 } else { 0 };
            // A host that has more commands under way than its queue has entries keeps to no limit.
            if self.transfers.len() >= connected.entries.into() {
                return Err(Termination { status: fatal::LIMIT, information: 0 });
            }
        }
        if !unit.is_intact {
            self.fail(self.entry(&command, Status::TRANSPORT), replies);
            return Ok(());
        }
        if matches!(self.phase, Phase::Connecting) {
            self.connect(&command, unit.data, replies);
            return Ok(());
        }
        let begun = self.begin(&command, unit.data);
        self.complete(&command, begun, replies);
        self.tell_events(replies);
        Ok(())
    }

    fn connect(&mut self, command: &Command, data: &[u8], replies: &mut Replies) {
        let connected = if command.sgl.kind == SGL_IN_CAPSULE && data.len() == ConnectData::BYTES {
            fabrics::connect(self.subsystem, &self.link, command, data)
        } else {
            Err(Refusal::from(Status::DATA_LENGTH))
        };
        let (result, status) = match &connected {
            Ok(connected) => (connected.controller.id.into(), Status::SUCCESS),
            Err(refusal) => (refusal.result(), refusal.status),
        };
        if let Ok(connected) = connected {
            self.heard = Instant::now();
            self.phase = Phase::Working(connected, 1);
        }
        self.respond(command.id, result, status, replies);
    }

    /// Begins with a command: carries it out, or has its data asked for.
    fn begin(&mut self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        /// Fused operations, and the form of the data pointer: an SGL with a pointer to metadata.
        const FORM: u8 = 0b1100_0011;
        const SGL: u8 = 0b0100_0000;
        if command.flags & FORM != SGL {
            return Err(Status::INVALID_FIELD);
        }
        let (bytes, sgl) = (command.sgl.bytes, command.sgl.kind);
        let is_in_capsule = sgl == SGL_IN_CAPSULE;
        if !command.has_data() || bytes == 0 {
            if command.wants_data() && sgl != SGL_TRANSPORT && bytes > 0 {
                return Err(Status::SGL_KIND);
            }
            return self.execute(command, &[]);
        }
        let target = self.target(command)?;
        if is_in_capsule {
            if command.sgl.address != 0 || data.len() != bytes as usize {
                return Err(Status::DATA_LENGTH);
            }
            return self.carry_out(command, target, data, &[]);
        }
        if sgl != SGL_TRANSPORT {
            return Err(Status::SGL_KIND);
        }
        if self.transfers.has(command.id) {
            return Err(Status::ID_CONFLICT);
        }
        self.transfers.add(Transfer::new(command, target));
        Ok(Answer::Later)
    }

    /// Asks for data of commands, in their order, as much as may be under way at once.
    #[inline]
    pub(super) fn ask(&mut self, replies: &mut Replies) {
        while let Some((tag, command)) = self.transfers.ask_next() {
            let bytes = command.sgl.bytes;
            let ready = ReadyToTransfer { command: command.id, tag, offset: 0, bytes };
            self.wire.ask(&ready, replies);
        }
    }

    fn io_context(&self) -> Option<io::Context<'_>> {
        let controller = &self.connected()?.controller;
        Some(io::Context { subsystem: self.subsystem, controller })
    }

    /// Where the data of a command go.
    fn target(&self, command: &Command) -> Result<Target, Status> {
        if command.opcode == opcode::FABRICS {
            return Err(Status::SEQUENCE);
        }
        if !self.is_admin() {
            return self.io_context().ok_or(Status::SEQUENCE)?.target(command);
        }
        let is_known = commands::ADMIN.iter().any(|(code, _)| *code == command.opcode);
        match (is_known, command.sgl.bytes <= BUFFERED_BYTES_MAX) {
            (false, _) => Err(Status::INVALID_OPCODE),
            (true, false) => Err(Status::INVALID_FIELD),
            (true, true) => Ok(Target::Memory),
        }
    }

    /// Carries out a command, whose data are there.
    fn execute(&mut self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        let subsystem = self.subsystem;
        let connected = self.connected().ok_or(Status::SEQUENCE)?;
        let controller = &*connected.controller;
        if command.opcode == opcode::FABRICS {
            return fabrics::execute(subsystem, controller, connected.queue, command);
        }
        if connected.queue > 0 {
            return io::Context { subsystem, controller }.execute(command, data);
        }
        if command.opcode == opcode::admin::ABORT {
            return self.abort(command);
        }
        let local = self.link.local();
        admin::execute(&commands::Context { subsystem, controller, local }, command, data)
    }

    /// Aborts a request to be told of events; all other commands are carried out as they come.
    fn abort(&mut self, command: &Command) -> Result<Answer, Status> {
        let (queue, aborted) = (command.dword(10) as u16, (command.dword(10) >> 16) as u16);
        let connected = self.connected().ok_or(Status::SEQUENCE)?;
        let is_aborted = queue == 0 && connected.controller.state().events.abort(aborted);
        if is_aborted { Ok(Answer::Aborted(aborted)) } else { Ok(Answer::Done(1)) }
    }

    /// Takes data from the host.
    fn receive(&mut self, unit: &Unit, replies: &mut Replies) -> Result<(), Termination> {
        const TAG_AT: u32 = 10;
        const BYTES_AT: u32 = 16;
        let data = Data::decode(unit.bytes);
        let wrong = |status, information| Err(Termination { status, information });
        let tag = data.tag;
        if self.connected().is_none() {
            return wrong(fatal::SEQUENCE, 0);
        }
        let Some(transfer) = self.transfers.get(tag).filter(|t| t.command.id == data.command)
        else {
            return wrong(fatal::HEADER_FIELD, TAG_AT);
        };
        if unit.data.len() != data.bytes as usize {
            return wrong(fatal::HEADER_FIELD, BYTES_AT);
        }
        let (total, end) = (transfer.command.sgl.bytes, data.offset.checked_add(data.bytes));
        let Some(end) = end.filter(|end| *end <= total && data.offset == transfer.received) else {
            return wrong(fatal::OUT_OF_RANGE, data.offset);
        };
        let is_last = unit.header.flags & flag::LAST != 0;
        if is_last != (end == total) || data.bytes == 0 {
            return wrong(fatal::SEQUENCE, 0);
        }
        transfer.received = end;
        transfer.is_intact &= unit.is_intact;
        if is_last {
            self.finish(tag, unit.data, replies);
        } else {
            self.keep(tag, unit.data);
        }
        Ok(())
    }

    /// Keeps data until the rest of the command's is there, in memory for which the queue may have to wait.
    #[inline(never)]
    fn keep(&mut self, tag: u16, data: &[u8]) {
        if self.lease.is_none() {
            self.lease = Some(self.link.lease(ASKED_BYTES_MAX as usize));
        }
        if let Some(transfer) = self.transfers.get(tag) {
            transfer.since.get_or_insert_with(Instant::now);
            transfer.keep(data);
        }
    }

    /// The last data of a command are there.
    fn finish(&mut self, tag: u16, last: &[u8], replies: &mut Replies) {
        let Some(transfer) = self.transfers.remove(tag) else { return };
        let Transfer { command, target, mut data, is_intact, .. } = transfer;
        let done = if !is_intact {
            Err(Status::TRANSPORT)
        } else if data.is_empty() {
            // Nothing is copied.
            self.carry_out(&command, target, last, &[])
        } else {
            let rest = self.join(&target, &mut data, last);
            self.carry_out(&command, target, &data, rest)
        };
        drop(data);
        self.shorten_lease();
        self.complete(&command, done, replies);
        self.tell_events(replies);
    }

    /// Joins the last data with those before them as far as it is necessary: to whole blocks.
    fn join<'d>(&self, target: &Target, data: &mut Vec<u8>, last: &'d [u8]) -> &'d [u8] {
        let missing = match target {
            Target::Memory => last.len(),
            Target::Blocks(_) => {
                let block_bytes = 1 << self.subsystem.namespaces[0].block_shift;
                data.len().next_multiple_of(block_bytes) - data.len()
            }
        };
        let (with_data, rest) = last.split_at(missing.min(last.len()));
        data.extend_from_slice(with_data);
        rest
    }

    /// Gives back the memory if no command waits for the rest of its data.
    fn shorten_lease(&mut self) {
        if let Some(lease) = &self.lease {
            match self.transfers.incomplete_since() {
                Some(since) => lease.date(since),
                None => self.lease = None,
            }
        }
    }

    /// Carries out a command, all data of which are there, in one or two parts.
    #[inline]
    fn carry_out(
        &mut self,
        command: &Command,
        target: Target,
        data: &[u8],
        rest: &[u8],
    ) -> Result<Answer, Status> {
        let Target::Blocks(blocks) = target else { return self.execute(command, data) };
        let context = self.io_context().ok_or(Status::SEQUENCE)?;
        context.take(&blocks, 0, data)?;
        if !rest.is_empty() {
            context.take(&blocks, data.len() as u64, rest)?;
        }
        context.finish(command, &blocks)
    }

    /// Answers a command.
    #[inline]
    fn complete(
        &mut self,
        command: &Command,
        answer: Result<Answer, Status>,
        replies: &mut Replies,
    ) {
        match answer {
            Ok(Answer::Read(range)) => {
                self.moved.read(range.end - range.start);
                let entry = self.entry(command, Status::UNREADABLE);
                self.reading =
                    Some(Reading { entry, at: range.start, end: range.end, sent: 0, due: None });
                self.read_piece(replies);
            }
            Ok(Answer::Written(bytes)) => {
                self.moved.write(bytes);
                self.respond(command.id, 0, Status::SUCCESS, replies);
            }
            Ok(answer) => self.complete_other(command, answer, replies),
            Err(status) => self.fail(self.entry(command, status), replies),
        }
    }

    /// Answers a command that is neither a read nor a write.
    #[inline(never)]
    fn complete_other(&mut self, command: &Command, answer: Answer, replies: &mut Replies) {
        match answer {
            Answer::Done(result) => self.respond(command.id, result, Status::SUCCESS, replies),
            Answer::Data(data) => self.send(command, &data, 0, replies),
            Answer::DataAnd(data, result) => self.send(command, &data, result, replies),
            Answer::Compared(bytes) => {
                self.moved.read(bytes);
                self.respond(command.id, 0, Status::SUCCESS, replies);
            }
            Answer::Aborted(aborted) => {
                self.respond(aborted, 0, Status::ABORTED, replies);
                self.respond(command.id, 0, Status::SUCCESS, replies);
            }
            Answer::Failed(status, result) => {
                self.subsystem.log_error(self.entry(command, status));
                self.respond(command.id, result, status, replies);
            }
            Answer::Leave => {
                self.respond(command.id, 0, Status::SUCCESS, replies);
                self.close(None);
            }
            Answer::Later | Answer::Read(_) | Answer::Written(_) => {}
        }
    }

    /// Answers a command that has failed.
    #[cold]
    fn fail(&mut self, failed: ErrorEntry, replies: &mut Replies) {
        self.subsystem.log_error(failed);
        self.respond(failed.command, 0, failed.status, replies);
    }

    /// What is logged of a command that fails.
    #[inline]
    fn entry(&self, command: &Command, status: Status) -> ErrorEntry {
        let queue = self.connected().map_or(0, |connected| connected.queue);
        let block = if queue > 0 { command.wide(10) } else { 0 };
        let (command, namespace) = (command.id, command.namespace);
        ErrorEntry { count: 0, queue, command, status, block, namespace }
    }

    /// Whether the host does without the response to a command that has sent data.
    fn may_omit_response(&self) -> bool {
        self.connected().is_some_and(|connected| !connected.has_flow_control)
    }

    /// Sends data of a command from memory, and its completion.
    fn send(&mut self, command: &Command, data: &[u8], result: u64, replies: &mut Replies) {
        let bytes = data.len().min(command.sgl.bytes as usize);
        let (of, bytes) = (&data[..bytes], bytes as u32);
        let is_all = self.may_omit_response() && result == 0;
        let flags = flag::LAST | if is_all { flag::SUCCESS } else { 0 };
        let header = Data { command: command.id, tag: 0, offset: 0, bytes };
        let Ok(()) = self.wire.data(header, flags, replies, |room| {
            room.copy_from_slice(of);
            Ok::<(), std::convert::Infallible>(())
        });
        if !is_all {
            self.respond(command.id, result, Status::SUCCESS, replies);
        }
    }

    /// Sends the next piece of a read.
    pub(super) fn read_piece(&mut self, replies: &mut Replies) {
        let omits_response = self.may_omit_response();
        let Some(reading) = &mut self.reading else { return };
        let (entry, at) = (reading.entry, reading.at);
        let piece_end = (at / READ_PIECE_BYTES + 1) * READ_PIECE_BYTES;
        let bytes = (piece_end.min(reading.end) - at) as u32;
        let is_last = at + u64::from(bytes) == reading.end;
        let mut flags = if is_last { flag::LAST } else { 0 };
        if is_last && omits_response {
            flags |= flag::SUCCESS;
        }
        let header = Data { command: entry.command, tag: 0, offset: reading.sent, bytes };
        let store = &*self.subsystem.store;
        let read = self.wire.data(header, flags, replies, |room| store.read(at, room));
        reading.due = reading.due.max(take_due());
        if let Some(due) = reading.due {
            set_due(due);
        }
        reading.at += u64::from(bytes);
        reading.sent += bytes;
        match read {
            Err(error) => {
                self.reading = None;
                let status = io::failure(&error, Status::UNREADABLE);
                self.fail(ErrorEntry { status, ..entry }, replies);
            }
            Ok(()) if is_last => {
                self.reading = None;
                if !omits_response {
                    self.respond(entry.command, 0, Status::SUCCESS, replies);
                }
            }
            Ok(()) => {}
        }
    }

    /// Sends a completion.
    #[inline]
    fn respond(&mut self, id: u16, result: u64, status: Status, replies: &mut Replies) {
        let queue_head = match &self.phase {
            Phase::Working(connected, head) if connected.has_flow_control => *head,
            _ => u16::MAX,
        };
        self.wire.response(&Completion { result, queue_head, id, status }, replies);
    }

    /// Tells the host of events, if it wants to know.
    #[inline]
    pub(super) fn tell_events(&mut self, replies: &mut Replies) {
        if self.is_admin() {
            self.deliver_events(replies);
        }
    }

    #[inline(never)]
    fn deliver_events(&mut self, replies: &mut Replies) {
        while let Some(connected) = self.connected()
            && let Some((command, result)) = {
                let mut state = connected.controller.state();
                state.events.deliver()
            }
        {
            self.respond(command, result, Status::SUCCESS, replies);
        }
    }

    /// Looks for events of the drive.
    pub(super) fn look(&mut self) {
        const SPARE_IS_LOW: u8 = 1 << 0;
        let warnings = crate::Smart::warnings(&self.subsystem.drive.status());
        let Some(Connected { controller, .. }) = self.connected() else { return };
        let known = std::mem::replace(&mut controller.state().events.warnings, warnings);
        let new = warnings & !known;
        if new & SPARE_IS_LOW != 0 {
            controller.announce(Event::SpareIsLow);
        }
        if new & !SPARE_IS_LOW != 0 {
            controller.announce(Event::Unreliable);
        }
    }

    pub(super) fn close(&mut self, problem: Option<String>) {
        self.leave();
        self.phase = Phase::Closed(problem);
    }

    /// The queue ends, and with an admin queue its controller.
    pub(super) fn leave(&mut self) {
        if let Phase::Working(connected, _) = &self.phase {
            if connected.queue == 0 {
                self.subsystem.end_controller(&connected.controller);
            } else {
                connected.controller.remove_queue(connected.queue);
            }
        }
    }

    /// When the host must have been heard of.
    pub(super) fn silent_until(&self) -> Option<Instant> {
        /// Hosts send a sign of life every half of the time; this is what it may take to get here.
        const GRACE: Duration = Duration::from_secs(1);
        let connected = self.connected().filter(|connected| connected.queue == 0)?;
        Some(self.heard + connected.controller.keep_alive()? + GRACE)
    }
}
