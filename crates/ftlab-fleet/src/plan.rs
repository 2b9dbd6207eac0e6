//! From a question to a manifest: the pass over the traces, what is in each volume, which are run on which drive.

use crate::inputs::inputs;
use crate::inspector::Inspector;
use crate::manifest::{Manifest, Pack, PlannedVolume, Size};
use crate::pack::{MEMBER_BYTES, Packing};
use crate::pass::{OnRead, Pass};
use crate::select::{Known, Selection};
use crate::sizes::Sizes;
use crate::volume::Volume;
use ftlab_experiments::ExperimentsError;
use ftlab_sim::format::{bytes, grouped};
use ftlab_sim::trust::full_drive;
use ftlab_sim::{Experiment, Fill, Logical, Physical, SimError, usual_pages_per_block};
use ftlab_spec::{Share, Spec};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{Contents, Layout, OpenOptions, SkippedLines};
use ftlab_volumes::Facts;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What papers on placement select volumes of Alibaba and Tencent by.
pub const USUAL_SELECTION: &str = "written > 2 * footprint and footprint > 10GiB";

/// The same of small volumes.
const SCALED_SELECTION: &str = "written > 2 * footprint";

/// The folder of what was read, in that of results.
const PARTS: &str = "parts";

/// Memory for requests that wait to be written, at most, and as a share of all.
const WAITING_BYTES_MAX: u64 = 1 << 30;
const WAITING_SHARE: u64 = 4;

/// A question about a fleet.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The traces: files, patterns of their names, `-` for standard input.
    pub traces: Vec<PathBuf>,
    /// How they are read; volumes stay apart, and the layout is of each.
    pub reading: OpenOptions,
    /// Sizes of volumes.
    pub sizes: Option<Sizes>,
    /// What all runs have in common; its workload does not count.
    pub base: Experiment,
    /// What serves the volumes.
    pub ftls: Vec<Spec>,
    /// Over-provisioning of the drives.
    pub op_ratios: Vec<Share>,
    /// Which volumes are run; [the usual ones](USUAL_SELECTION), or as close to that as there are, if `None`.
    pub select: Option<Selection>,
    /// How volumes share drives; each has its own without.
    pub packing: Option<Packing>,
    /// Whether what is wrong with a trace or a volume ends everything.
    pub strict: bool,
    /// The question as it was typed.
    pub words: Vec<String>,
}

/// What there is to answer it.
#[derive(Debug, Clone)]
pub struct Means {
    /// Where everything is kept.
    pub directory: PathBuf,
    /// Threads.
    pub threads: usize,
    /// Memory.
    pub memory_bytes: u64,
}

impl Means {
    pub(crate) fn parts(&self) -> PathBuf {
        self.directory.join(PARTS)
    }

    /// No other process plans here meanwhile.
    fn lock(&self) -> Result<File, ExperimentsError> {
        let path = self.directory.join(".lock");
        let at = |error| ExperimentsError::not_kept(&path, &error);
        fs::create_dir_all(&self.directory).map_err(at)?;
        let file = File::create(&path).map_err(at)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            ExperimentsError::Store {
                path: self.directory.clone(),
                message: "another process plans a fleet here; wait for it, or choose another --out"
                    .into(),
            }
        })?;
        Ok(file)
    }
}

/// Is told how far planning is.
pub trait OnPlan: Sync {
    /// Traces that were read, how many there are, and the share of the present one.
    fn read(&self, done: usize, of: usize, share: f64) {
        let _ = (done, of, share);
    }

    /// Volumes that were looked at, and how many there are.
    fn inspected(&self, done: usize, of: usize) {
        let _ = (done, of);
    }
}

impl OnPlan for () {}

impl Fleet {
    /// Reads the traces, looks at each volume, and writes the manifest.
    pub fn plan(&self, means: &Means, told: &impl OnPlan) -> Result<Manifest, ExperimentsError> {
        let _lock = means.lock()?;
        let (inputs, mut problems) = inputs(&self.traces)?;
        let parts = means.parts();
        let pass = Pass {
            directory: &parts,
            options: &self.reading,
            threads: means.threads,
            waiting_bytes: (means.memory_bytes / WAITING_SHARE).min(WAITING_BYTES_MAX),
            strict: self.strict,
        };
        let on_read: OnRead<'_> = &|done, of, share| told.read(done, of, share);
        let reads = pass.run(&inputs, on_read)?;
        for read in &reads {
            let name = read.input.path.display();
            problems.extend(read.problem.as_ref().map(|problem| {
                let is_named = problem.contains(&name.to_string());
                if is_named { problem.clone() } else { format!("{name}: {problem}") }
            }));
            problems.extend(read.skipped.iter().filter_map(|of| passed_over(&name, of)));
        }
        if let Some(problem) = problems.first().filter(|_| self.strict) {
            let remedy = "without --strict it is named, and the rest is run".into();
            return Err(SimError::Unusable { what: problem.clone(), remedy }.into());
        }
        let volumes = Volume::all(reads);
        if volumes.iter().all(|volume| volume.all_requests() == 0) {
            return Err(self.nothing(&problems));
        }
        if let Some(sizes) = &self.sizes {
            sizes.check(volumes.iter().map(|volume| volume.name.as_str()))?;
        }
        let planned = self.look(means, volumes, told)?;
        let mut manifest = self.select(planned)?;
        manifest.inputs = inputs;
        manifest.problems = problems;
        if let Some(packing) = &self.packing {
            let page_bytes = self.base.drive.page_bytes;
            manifest.packs = packing.packs(&manifest.volumes, page_bytes, self.reading.layout)?;
            manifest.pages_per_block = self.usual_block_of(&manifest);
        }
        self.add_cells(&mut manifest, &parts)?;
        manifest.write(&means.directory)?;
        Ok(manifest)
    }

    fn nothing(&self, problems: &[String]) -> ExperimentsError {
        let wanted = &self.reading.volumes;
        let what = match problems.first() {
            Some(problem) => format!("no request was read: {problem}"),
            None if wanted.is_empty() => "no request was read".to_owned(),
            None => format!("no request is of the volumes {}", wanted.join(", ")),
        };
        let remedy = "see `ftlab inspect` for the volumes of a trace, and --format for what it is";
        SimError::Unusable { what, remedy: remedy.into() }.into()
    }

    /// What is in each volume, and how large its drive is.
    fn look(
        &self,
        means: &Means,
        volumes: Vec<Volume>,
        told: &impl OnPlan,
    ) -> Result<Vec<PlannedVolume>, ExperimentsError> {
        let parts = means.parts();
        let inspector = Inspector {
            parts: &parts,
            directory: &means.directory,
            page_bytes: self.base.drive.page_bytes,
            threads: means.threads,
        };
        let all = volumes.len();
        let facts = inspector.run(&volumes, &|done| told.inspected(done, all))?;
        let mut planned = Vec::new();
        for (mut volume, facts) in volumes.into_iter().zip(facts) {
            let (size, from) = self.size(&volume, facts.as_ref().ok());
            let sizes = self.sizes.as_ref();
            volume.problems.extend(sizes.and_then(|sizes| sizes.problem(&volume.name, from)));
            volume.problems.extend(facts.as_ref().err().cloned());
            if let Some(problem) = volume.problems.first().filter(|_| self.strict) {
                return Err(SimError::Unusable {
                    what: format!("volume {}: {problem}", volume.name),
                    remedy: "without --strict it is named, and the rest is run".into(),
                }
                .into());
            }
            planned.push(PlannedVolume {
                volume,
                facts: facts.ok(),
                size,
                size_from: from.to_owned(),
                is_selected: false,
            });
        }
        Ok(planned)
    }

    /// The size of the drive of a volume, and where it comes from.
    fn size(&self, volume: &Volume, facts: Option<&Facts>) -> (Size, &'static str) {
        let page_bytes = u64::from(self.base.drive.page_bytes.max(1));
        match self.base.drive.logical {
            Logical::Bytes(size) => return (Size::Bytes(size.0), "asked"),
            Logical::Pages(pages) => return (Size::Pages(pages), "asked"),
            Logical::OfWorkload => {}
        }
        if let Some(bytes) = self.sizes.as_ref().and_then(|sizes| sizes.of(&volume.name)) {
            return (Size::Bytes(bytes), "table of sizes");
        }
        if matches!(self.reading.layout, Layout::Pieces(_)) {
            let used = facts.map_or(0, |facts| facts.working_set_pages);
            return (Size::OfVolume(used), "pieces that are used");
        }
        let highest = volume.end_sector.saturating_mul(SECTOR_BYTES);
        match volume.device_bytes {
            Some(bytes) => (Size::OfVolume(bytes / page_bytes), "device of the trace"),
            None => (Size::OfVolume(highest.div_ceil(page_bytes)), "highest address"),
        }
    }

    /// Selects volumes by the condition that was asked for, or the usual one.
    fn select(&self, mut volumes: Vec<PlannedVolume>) -> Result<Manifest, ExperimentsError> {
        let asked = self.select.clone();
        let usual = || [USUAL_SELECTION, SCALED_SELECTION, "all"].map(str::parse::<Selection>);
        let candidates = match asked {
            Some(asked) => vec![asked],
            None => usual().into_iter().flatten().collect(),
        };
        let page_bytes = self.base.drive.page_bytes;
        let count = |selection: &Selection| {
            volumes.iter().filter(|volume| is_selected(selection, volume, page_bytes)).count()
        };
        let Some(selection) = candidates.iter().find(|selection| count(selection) > 0) else {
            return Err(selects_none(&candidates[0], &volumes, page_bytes));
        };
        let is_usual = self.select.is_some() || *selection == candidates[0];
        let selection_note = (!is_usual).then(|| {
            let all = grouped(volumes.len() as u64);
            format!("the usual condition, {USUAL_SELECTION}, selects none of the {all} volumes")
        });
        for volume in &mut volumes {
            volume.is_selected = is_selected(selection, volume, page_bytes);
        }
        Ok(Manifest {
            by: ftlab_spec::written_by(),
            words: self.words.clone(),
            inputs: Vec::new(),
            problems: Vec::new(),
            selection: selection.to_string(),
            selection_note,
            volumes,
            op_ratios: self.op_ratios.iter().map(|share| share.0).collect(),
            ftls: self.ftls.iter().map(Spec::to_string).collect(),
            packs: Vec::new(),
            pages_per_block: None,
            versions: Vec::new(),
            cells: Vec::new(),
        })
    }

    /// Pages of a block that are usual for the smallest drive of all packs, unless they are asked for. Drives are of one
    /// kind: otherwise, a difference of blocks would be taken for one of packings.
    fn usual_block_of(&self, manifest: &Manifest) -> Option<u32> {
        /// Blocks with fewer pages are far from those of any drive.
        const PAGES_MIN: u32 = 32;
        let drive = &self.base.drive;
        if drive.pages_per_block.is_some() || self.base.timing.is_some() {
            return None;
        }
        let page_bytes = u64::from(drive.page_bytes.max(1));
        let pages = |pack: &Pack| pack.drive.size.bytes(drive.page_bytes) / page_bytes;
        let smallest = manifest.packs.iter().map(pages).min()?;
        let usual = usual_pages_per_block(u32::try_from(smallest).unwrap_or(u32::MAX));
        Some(usual.max(PAGES_MIN))
    }

    fn add_cells(&self, manifest: &mut Manifest, parts: &Path) -> Result<(), ExperimentsError> {
        let contents = Contents::new();
        for number in 0..manifest.drives().len() {
            if !manifest.drive(number).is_selected {
                continue;
            }
            for op in 0..self.op_ratios.len() {
                let experiment = self.experiment(manifest, number, op, parts);
                let page_bytes = experiment.drive.page_bytes;
                let of_workload = experiment.workload.identity(page_bytes, &contents)?;
                let identity = experiment.identity(&of_workload);
                for ftl in 0..self.ftls.len() {
                    let run = match &identity {
                        Ok(identity) => identity.of_run(&self.ftls[ftl]).map_err(|e| e.to_string()),
                        Err(error) => Err(error.to_string()),
                    };
                    manifest.add([number, op, ftl], run);
                }
            }
        }
        Ok(())
    }

    /// Bytes that reading the volumes of a drive takes while it is run, at most, beside what every run takes.
    pub(crate) fn reading_bytes(&self, manifest: &Manifest, drive: usize) -> u64 {
        let Some(pack) = manifest.packs.get(drive).filter(|pack| pack.members.len() > 1) else {
            return self.layout_bytes(manifest.drive(drive));
        };
        let of_member = |number: usize| self.layout_bytes(&manifest.volumes[number]) + MEMBER_BYTES;
        pack.members.iter().map(|member| of_member(member.volume)).sum()
    }

    /// Bytes that the places of pieces take while a volume is run, at most.
    fn layout_bytes(&self, volume: &PlannedVolume) -> u64 {
        /// A piece in a table that has just grown.
        const PIECE_BYTES: u64 = 65;
        let Layout::Pieces(bytes) = self.reading.layout else { return 0 };
        let used = volume.facts.map_or(0, |facts| facts.working_set_pages);
        let all = volume.volume.end_sector.saturating_mul(SECTOR_BYTES) / bytes.max(1) + 1;
        used.min(all).saturating_mul(PIECE_BYTES)
    }

    /// What is taken for granted, for whoever reads the answer.
    pub fn assumed(&self) -> Vec<String> {
        let blocks = self.base.drive.pages_per_block.is_none() && self.base.timing.is_none();
        let parts = [
            (self.base.fill == Fill::default()).then(full_drive),
            blocks.then(|| "blocks of the usual size".to_owned()),
        ];
        parts.into_iter().flatten().collect()
    }

    /// The runs on a drive with this over-provisioning, without FTLs.
    pub(crate) fn experiment(
        &self,
        manifest: &Manifest,
        drive: usize,
        op: usize,
        parts: &Path,
    ) -> Experiment {
        let layout = self.reading.layout;
        let page_bytes = self.base.drive.page_bytes;
        let pack = manifest.packs.get(drive);
        let alone = pack.map_or(drive, |pack| pack.members[0].volume);
        let packed = pack.and_then(|of| of.workload(&manifest.volumes, parts, layout, page_bytes));
        let workload = packed.unwrap_or_else(|| {
            let volume = &manifest.volumes[alone].volume;
            volume.workload(parts, layout, self.base.timing.is_some())
        });
        let mut experiment = Experiment { workload, ftls: Vec::new(), ..self.base.clone() };
        experiment.drive.logical = manifest.drive(drive).size.logical();
        experiment.drive.physical = Physical::OverProvisioning(self.op_ratios[op]);
        if let Some(pages) = manifest.pages_per_block {
            experiment.drive.pages_per_block = Some(pages);
        }
        experiment.threads = Some(1);
        experiment
    }
}

fn is_selected(selection: &Selection, volume: &PlannedVolume, page_bytes: u32) -> bool {
    volume.facts.as_ref().is_some_and(|facts| {
        let capacity_bytes = volume.size.bytes(page_bytes);
        selection.has(&Known { volume: &volume.volume, facts, capacity_bytes, page_bytes })
    })
}

fn selects_none(
    selection: &Selection,
    volumes: &[PlannedVolume],
    page_bytes: u32,
) -> ExperimentsError {
    let facts = volumes.iter().filter_map(|volume| volume.facts.as_ref());
    let unread = volumes.iter().find(|volume| volume.facts.is_none());
    if let Some(volume) = unread.filter(|_| facts.clone().next().is_none()) {
        return SimError::Unusable {
            what: format!("no volume could be looked at: volume {}", volume.volume.name),
            remedy: volume.volume.problems.join("; "),
        }
        .into();
    }
    let footprint = facts.map(|facts| facts.footprint_pages).max().unwrap_or(0);
    SimError::Unusable {
        what: format!(
            "{selection} selects none of {} volumes, the largest of which writes to {}",
            grouped(volumes.len() as u64),
            bytes(footprint * u64::from(page_bytes))
        ),
        remedy: "give another --select, or --select all".into(),
    }
    .into()
}

/// Lines that were tolerated although they were wrong.
fn passed_over(name: &impl std::fmt::Display, of: &SkippedLines) -> Option<String> {
    of.reason.contains("wrong line").then(|| {
        format!(
            "{name}: {} wrong lines were passed over, the first of them {}: {:?}",
            grouped(of.count),
            of.first_line,
            of.first_text
        )
    })
}
