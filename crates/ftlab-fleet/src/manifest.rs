//! The manifest: all that is to be run, and all that running it takes, in one file.

use crate::inputs::InputFile;
use crate::pass::MANIFEST;
use crate::volume::Volume;
use ftlab_experiments::ExperimentsError;
use ftlab_sim::{Logical, RunIdentity, other_versions};
use ftlab_trace::replace_file;
use ftlab_volumes::Facts;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::Path;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What wrote it.
    pub by: String,
    /// The question as it was typed: whoever runs cells asks it again.
    pub words: Vec<String>,
    /// The traces.
    pub inputs: Vec<InputFile>,
    /// What is wrong with traces.
    pub problems: Vec<String>,
    /// The condition by which volumes were selected.
    pub selection: String,
    /// Why it is not the usual one, if nobody asked for another.
    pub selection_note: Option<String>,
    /// Every volume, in the order in which traces first name it.
    pub volumes: Vec<PlannedVolume>,
    /// Drives that several volumes share; each volume has its own if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packs: Vec<Pack>,
    /// Pages of a block of all drives, if volumes share them: those that are usual for the smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pages_per_block: Option<u32>,
    /// Over-provisioning of the drives.
    pub op_ratios: Vec<f64>,
    /// The FTLs.
    pub ftls: Vec<String>,
    /// Texts of the versions of what decides.
    pub(crate) versions: Vec<String>,
    /// Every run: FTLs within over-provisioning within drives.
    pub cells: Vec<Cell>,
}

/// A volume, and its drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedVolume {
    /// Its requests.
    pub volume: Volume,
    /// What is in it; none of a volume that could not be looked at.
    pub facts: Option<Facts>,
    /// Bytes or pages that the host can address.
    pub(crate) size: Size,
    /// Where this size comes from.
    pub size_from: String,
    /// Whether it is run.
    pub is_selected: bool,
}

/// Volumes that share a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pack {
    /// The drive, and what its volumes come to together.
    pub drive: PlannedVolume,
    /// By what they were put together.
    pub order: String,
    /// Which of several draws.
    pub draw: Option<u32>,
    /// The volumes, in the order of their addresses.
    pub members: Vec<Member>,
}

/// A volume on a shared drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its number in the manifest.
    pub volume: usize,
    /// Where it begins on the drive.
    pub first_page: u64,
    /// Pages that it has there.
    pub pages: u64,
    /// The handle of its writes.
    pub handle: u16,
}

/// The size of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Size {
    /// As asked.
    Bytes(u64),
    /// As asked.
    Pages(u64),
    /// As the volume has it, which is this number of pages, as far as that is known before it is run.
    OfVolume(u64),
}

impl Size {
    pub(crate) fn logical(self) -> Logical {
        match self {
            Self::Bytes(bytes) => Logical::Bytes(ftlab_spec::ByteSize(bytes)),
            Self::Pages(pages) => Logical::Pages(pages),
            Self::OfVolume(_) => Logical::OfWorkload,
        }
    }

    pub(crate) fn bytes(self, page_bytes: u32) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Pages(pages) | Self::OfVolume(pages) => pages.saturating_mul(page_bytes.into()),
        }
    }
}

/// One FTL on the drive of one volume, or of one pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The number of its drive.
    pub drive: usize,
    /// Of its over-provisioning.
    pub op: usize,
    /// Of its FTL.
    pub ftl: usize,
    /// What tells it from any other, or why it cannot be run.
    run: Result<Key, String>,
}

/// The hash of a run, and the number of the text of its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Key(String, usize);

impl Manifest {
    /// Adds a cell.
    pub(crate) fn add(&mut self, [drive, op, ftl]: [usize; 3], run: Result<RunIdentity, String>) {
        let run = run.map(|RunIdentity { hash, versions }| {
            let known = self.versions.iter().position(|text| *text == versions);
            let number = known.unwrap_or(self.versions.len());
            if known.is_none() {
                self.versions.push(versions);
            }
            Key(hash, number)
        });
        self.cells.push(Cell { drive, op, ftl, run });
    }

    /// What tells a cell from any other, or why it cannot be run.
    pub(crate) fn identity(&self, cell: &Cell) -> Result<RunIdentity, String> {
        let Key(hash, number) = cell.run.as_ref().map_err(Clone::clone)?;
        let versions = self.versions.get(*number).cloned().unwrap_or_default();
        Ok(RunIdentity { hash: hash.clone(), versions })
    }

    /// Writes it into `directory`.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), ExperimentsError> {
        let path = directory.join(MANIFEST);
        let text =
            serde_json::to_string(self).map_err(|error| ExperimentsError::store(&path, &error))?;
        Ok(replace_file(&path, |file| file.write_all(text.as_bytes()))?)
    }

    /// Reads that in `directory`; none if there is none.
    pub fn read(directory: &Path) -> Result<Option<Self>, ExperimentsError> {
        let path = directory.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ExperimentsError::Read { path, source }),
        };
        let store = |message: String| ExperimentsError::Store { path: path.clone(), message };
        let manifest: Self = serde_json::from_str(&text).map_err(|error| {
            store(format!("{error}; plan the fleet again: give its traces and --plan"))
        })?;
        let is_other = other_versions();
        if let Some(versions) = manifest.versions.iter().find(|versions| is_other(versions)) {
            return Err(store(format!(
                "a version of ftlab that decides otherwise ({versions}) planned it; plan it again: give its traces \
                 and --plan"
            )));
        }
        Ok(Some(manifest))
    }

    /// Every drive: of a pack each, or of a volume.
    pub fn drives(&self) -> Vec<&PlannedVolume> {
        match self.packs.as_slice() {
            [] => self.volumes.iter().collect(),
            packs => packs.iter().map(|pack| &pack.drive).collect(),
        }
    }

    /// The drive of this number.
    pub(crate) fn drive(&self, number: usize) -> &PlannedVolume {
        self.packs.get(number).map_or_else(|| &self.volumes[number], |pack| &pack.drive)
    }

    /// The volumes that are run.
    pub fn selected(&self) -> impl Iterator<Item = &PlannedVolume> {
        self.volumes.iter().filter(|volume| volume.is_selected)
    }
}
