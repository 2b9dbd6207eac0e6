//! From the text of an experiment file to an experiment.

use super::file_error::Wrong;
use super::items::WorkloadItem;
use super::option_table::OptionTable;
use super::scale::Scale;
use super::variables::Variables;
use ftlab_host::Timing;
use ftlab_sim::{DriveOptions, Experiment, Length, OptionOf, Workload};
use ftlab_spec::Spec;
use std::path::Path;

/// What one point of the grid says, before its FTL.
pub(crate) struct Settings<'a> {
    pub(crate) drive: OptionTable<DriveOptions>,
    pub(crate) run: OptionTable<Experiment>,
    pub(crate) workload: &'a WorkloadItem,
    pub(crate) folder: &'a Path,
    pub(crate) seed: u64,
    pub(crate) scale: Scale,
}

impl Settings<'_> {
    /// The experiment, still without FTLs; or why its workload is absent. Adds what the lengths came to
    /// to the variables: `logical-pages`, `writes` and `warmup-writes`, as far as they are given.
    pub(crate) fn experiment(
        &self,
        variables: &mut Variables,
    ) -> Result<Result<Experiment, String>, Wrong> {
        let is_generator = self.workload.is_generator(self.folder, variables);
        let full = self.drive.apply(DriveOptions::default(), variables, |_| true)?;
        let scale = match full.asked_pages() {
            Some(pages) if is_generator => self.scale.of_drive(pages),
            None if is_generator => self.scale,
            _ => Scale::FULL,
        };
        // Its workload comes last, since it may depend on the lengths.
        let any = Workload::Generator(Spec::bare("uniform"));
        let drive = scale.drive(&full);
        let experiment = Experiment { drive, seed: self.seed, ..Experiment::new(any, Vec::new()) };
        if let Some(pages) = experiment.drive.asked_pages() {
            variables.set("logical-pages", pages.to_string());
        }
        let lengths = |option: &OptionOf<Experiment>| option.id.ends_with("writes");
        let sized = self.run.apply(experiment.clone(), variables, lengths)?;
        let sized = self.scaled(sized, scale);
        variables.set("warmup-writes", sized.warmup_writes.to_string());
        if let Length::Writes(writes) = sized.length {
            variables.set("writes", writes.to_string());
        }
        let found = self.workload.workload(variables, self.folder, experiment.drive.page_bytes)?;
        let workload = match found {
            Ok(workload) => workload,
            Err(absent) => return Ok(Err(absent)),
        };
        let mut experiment = self.scaled(self.run.apply(experiment, variables, |_| true)?, scale);
        if let Some((timing, scalar)) = experiment.timing.as_ref().zip(self.run.get("timing")) {
            let timing = Timing::from_spec(timing)
                .map_err(|error| Wrong::at(scalar.span(), format!("timing = {error}")))?;
            if full.pages_per_block.is_none() && scale != Scale::FULL {
                // The blocks of its chip shrink as those that are given do.
                let pages_per_block = Some(timing.pages_per_block(full.page_bytes));
                experiment.drive = scale.drive(&DriveOptions { pages_per_block, ..full });
            }
        }
        Ok(Ok(Experiment { workload, ..experiment }))
    }

    /// The experiment with its counts of writes at this scale; multiples of the drive are at scale already.
    fn scaled(&self, mut experiment: Experiment, scale: Scale) -> Experiment {
        if let Length::Writes(writes) = &mut experiment.length {
            *writes = scale.count(*writes);
        }
        if self.run.get("warmup_writes").is_some() {
            experiment.warmup_writes = scale.count(experiment.warmup_writes);
        }
        experiment.interval_writes = experiment.interval_writes.map(|writes| scale.count(writes));
        experiment
    }
}
