//! Policies written in Python (`ftlab.Policy`): every decision of the engine becomes a call.

use crate::drive_view::DriveView;
use crate::error::policy_error;
use crate::hint::Hint;
use crate::workload::{Raised, keep};
use ftlab_flash::{BlockId, Hint as Told, Lpn};
use ftlab_ftl::page::{
    DriveState, Hints, HostWrite, Phase, Policy, Relocation, Stream, StreamId, Victims,
};
use ftlab_ftl::registry::DriveShape;
use ftlab_ftl::{Archive, Metadata, State, StateError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Methods that are notified of events.
const EVENTS: [&str; 5] =
    ["on_block_opened", "on_block_sealed", "on_invalidate", "on_block_erased", "on_trim"];

/// A policy in Python. After it has raised an exception it is not called any more: the run ends at
/// the next check.
pub(crate) struct PythonPolicy {
    policy: Py<PyAny>,
    view: Py<DriveView>,
    /// What it is told if it asks for no hints; none if it asks for some.
    nothing: Option<Py<Hint>>,
    name: String,
    streams: Vec<Stream>,
    metadata: Metadata,
    /// The events that the class handles.
    events: Vec<&'static str>,
    has_failed: bool,
    raised: Raised,
}

impl PythonPolicy {
    /// Prepares the policy for a drive of this size.
    pub(crate) fn new(
        policy: &Bound<'_, PyAny>,
        size: DriveShape,
        hints: Hints,
        raised: &Raised,
    ) -> PyResult<Self> {
        let py = policy.py();
        let name: String = policy.getattr("name")?.extract()?;
        let streams = streams(policy, &name)?;
        policy.call_method1(
            "setup",
            (size.blocks, size.pages_per_block, size.logical_pages, size.reserve_blocks),
        )?;
        let base = py.import("ftlab._policy")?.getattr("Policy")?;
        let mut events = Vec::new();
        for event in EVENTS {
            if !policy.get_type().getattr(event)?.is(&base.getattr(event)?) {
                events.push(event);
            }
        }
        Ok(Self {
            events,
            metadata: Metadata {
                bits_per_page: policy.getattr("metadata_bits_per_page")?.extract()?,
                bits_per_block: policy.getattr("metadata_bits_per_block")?.extract()?,
                bytes: policy.getattr("metadata_bytes")?.extract()?,
            },
            view: Py::new(py, DriveView::new())?,
            nothing: (hints == Hints::None).then(|| Py::new(py, Hint(Told::NONE))).transpose()?,
            policy: policy.clone().unbind(),
            name,
            streams,
            has_failed: false,
            raised: raised.clone(),
        })
    }

    /// The result of `work` for the policy and the drive; none if the policy raises, or has raised
    /// before.
    fn ask<T>(
        &mut self,
        drive: &DriveState,
        work: impl FnOnce(&Self, &Bound<'_, PyAny>, &Bound<'_, DriveView>) -> PyResult<T>,
    ) -> Option<T> {
        if self.has_failed {
            return None;
        }
        let answer = Python::attach(|py| {
            DriveView::show(&self.view, drive, || {
                work(self, self.policy.bind(py), self.view.bind(py))
            })
        });
        answer
            .map_err(|error| {
                self.has_failed = true;
                keep(&self.raised, error);
            })
            .ok()
    }

    /// Notifies the policy of an event of a block or page.
    fn tell(&mut self, event: &str, about: u32, drive: &DriveState) {
        if !self.events.contains(&event) {
            return;
        }
        self.ask(drive, |_, policy, view| {
            let event = PyString::intern(policy.py(), event);
            policy.call_method1(event, (about, view)).map(drop)
        });
    }

    /// The stream that the policy returned, if it exists.
    fn stream(&self, answer: &Bound<'_, PyAny>, relocates: bool) -> PyResult<StreamId> {
        let number: usize = answer.extract()?;
        let stream = self.streams.get(number);
        if stream.is_some_and(|stream| stream.takes_relocations || !relocates) {
            return Ok(StreamId(number as u8));
        }
        let what = match stream {
            Some(stream) => format!(
                "placed a relocated page in stream {number} ({}), which takes no relocations",
                stream.name
            ),
            None => format!("placed a page in stream {number}, but has {}", self.streams.len()),
        };
        Err(policy_error(&self.name, &what))
    }

    /// Refuses invalid victims.
    fn check_victim(
        &self,
        block: u32,
        victims: &Victims,
        drive: &DriveState,
    ) -> Result<u32, PyErr> {
        let refuse = |what: String| Err(policy_error(&self.name, &what));
        if block >= drive.geometry().blocks() {
            let blocks = drive.geometry().blocks();
            return refuse(format!("chose block {block} as a victim, but there are {blocks}"));
        }
        let phase = drive.phase(BlockId(block));
        if phase != Phase::Sealed {
            return refuse(format!(
                "chose block {block} as a victim, which is {phase:?}, not sealed"
            ));
        }
        if victims.blocks().contains(&BlockId(block)) {
            return refuse(format!("chose block {block} as a victim twice"));
        }
        let (valid, most) = (drive.valid_pages(BlockId(block)), victims.valid_pages_max());
        if valid > most {
            return refuse(format!(
                "chose block {block} with {valid} valid pages as a victim, but {most} are allowed"
            ));
        }
        Ok(valid)
    }
}

fn streams(policy: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Stream>> {
    let mut streams = Vec::new();
    for stream in policy.getattr("streams")?.try_iter()? {
        let stream = stream?;
        streams.push(Stream {
            name: lasting(stream.getattr("name")?.extract()?),
            takes_relocations: stream.getattr("takes_relocations")?.extract()?,
            cold: stream.getattr("cold")?.extract()?,
        });
    }
    let takes_relocations = streams.iter().any(|stream| stream.takes_relocations);
    if streams.len() > usize::from(u8::MAX) || !takes_relocations {
        let what = "must have 1 to 255 streams, one of which takes relocations";
        return Err(policy_error(name, what));
    }
    Ok(streams)
}

/// The name, with static lifetime as the engine's own names. Each is stored once.
pub(crate) fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let kept: &'static str = name.leak();
    names.insert(kept);
    kept
}

impl State for PythonPolicy {
    fn transfer(&mut self, _archive: &mut dyn Archive) -> Result<(), StateError> {
        Err(StateError::Archive(io::Error::other("a policy in Python cannot be saved")))
    }
}

impl Policy for PythonPolicy {
    fn streams(&self) -> Vec<Stream> {
        self.streams.clone()
    }

    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let placed = self.ask(drive, |this, policy, view| {
            let name = intern!(policy.py(), "place_host");
            let hint = match &this.nothing {
                Some(nothing) => nothing.clone_ref(policy.py()),
                None => Py::new(policy.py(), Hint(write.hint))?,
            };
            this.stream(&policy.call_method1(name, (write.lpn.0, hint, view))?, false)
        });
        placed.unwrap_or(StreamId(0))
    }

    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let placed = self.ask(drive, |this, policy, view| {
            let name = intern!(policy.py(), "place_relocation");
            let page = (page.lpn.0, page.victim.0, page.from.index(), view);
            this.stream(&policy.call_method1(name, page)?, true)
        });
        placed.unwrap_or_else(|| {
            let takes = |stream: &Stream| stream.takes_relocations;
            StreamId(self.streams.iter().position(takes).unwrap_or(0) as u8)
        })
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.ask(drive, |this, policy, view| {
            let name = intern!(policy.py(), "select_victims");
            let asked = (view, victims.requester().index(), victims.valid_pages_max());
            for block in policy.call_method1(name, asked)?.try_iter()? {
                let block: u32 = block?.extract()?;
                let valid_pages = this.check_victim(block, victims, drive)?;
                victims.push(BlockId(block), valid_pages);
            }
            if victims.valid_pages_max() == drive.pages_per_block() && victims.invalid_pages() == 0
            {
                let what = "chose no victim with an invalid page, and the drive is full";
                return Err(policy_error(&this.name, what));
            }
            Ok(())
        });
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.tell("on_block_opened", block.0, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.tell("on_block_sealed", block.0, drive);
    }

    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        self.tell("on_invalidate", block.0, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.tell("on_block_erased", block.0, drive);
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.tell("on_trim", lpn.0, drive);
    }

    fn metadata(&self) -> Metadata {
        self.metadata
    }

    /// Memory held by Python is not counted.
    fn memory_bytes(&self) -> usize {
        0
    }
}
