//! What flash was asked for, by cause.

use crate::fact::facts;
use ftlab_flash::Cause;
use ftlab_stack::{Tally, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

facts! {
    Run:
    /// Flash pages programmed, by what that was for. All but those of the host, of a map on flash and of
    /// units are copies, and read as many pages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct ProgramsByCause {
        /// The host wrote them: into normal blocks, or into an SLC cache.
        host: u64 = Count, "pages", from "the FTL" [frame(300, "host_programs")];
        /// Garbage collection moved them.
        collection: u64 = Count, "pages", from "the FTL" [frame(310, "collection_programs")];
        /// Merges of a hybrid-mapped FTL copied them.
        merges: u64 = Count, "pages", from "the FTL" [frame(320, "merge_programs")];
        /// They left an SLC cache.
        folds: u64 = Count, "pages", from "the SLC cache" [frame(330, "fold_programs")];
        /// Static wear levelling moved them.
        wear: u64 = Count, "pages", from "the FTL" [
            report(Runs, 92, "moved by levelling", "Of the relocations, pages that static wear levelling moved", Nonzero),
            sweep(580, "wear-programs", "pages that static wear levelling moved"),
            frame(340, "wear_programs"),
        ];
        /// They were rewritten before their errors could not be corrected any more.
        refresh: u64 = Count, "pages", from "the FTL" [frame(350, "refresh_programs")];
        /// They left blocks that had failed.
        retirement: u64 = Count, "pages", from "the FTL" [
            report(Runs, 94, "moved off failed", "Of the relocations, pages that left blocks that had failed", Nonzero),
            sweep(590, "retirement-programs", "pages that left blocks that had failed"),
            frame(360, "retirement_programs"),
        ];
        /// Translation pages of a map on flash. Results of earlier versions do not tell it.
        @ #[serde(default)] #[schemars(!default)]
        map: u64 = Count, "pages", from "the FTL" [frame(365, "map_programs")];
        /// Pages of units that the host wrote in part, those that it wrote not included. Results of earlier versions do
        /// not tell it.
        @ #[serde(default)] #[schemars(!default)]
        rewrites: u64 = Count, "pages", from "the FTL" [frame(366, "rewrite_programs")];
    }
}

facts! {
    Run:
    /// Blocks erased, by what that was for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct ErasesByCause {
        /// Garbage collection emptied them.
        collection: u64 = Count, "blocks", from "the FTL" [frame(370, "collection_erases")];
        /// Merges of a hybrid-mapped FTL emptied them.
        merges: u64 = Count, "blocks", from "the FTL" [frame(380, "merge_erases")];
        /// They are blocks of an SLC cache.
        folds: u64 = Count, "blocks", from "the SLC cache" [frame(390, "fold_erases")];
        /// Static wear levelling emptied them.
        wear: u64 = Count, "blocks", from "the FTL" [
            sweep(600, "wear-erases", "blocks that static wear levelling erased"),
            frame(400, "wear_erases"),
        ];
        /// Their pages were rewritten before their errors could not be corrected any more.
        refresh: u64 = Count, "blocks", from "the FTL" [frame(410, "refresh_erases")];
    }
}

impl ProgramsByCause {
    /// Those of a tally, with what was seen in the same span.
    pub(crate) fn new(tally: &Tally, seen: &Watch) -> Self {
        let programs = |cause| tally.programs_for(cause, seen);
        Self {
            host: programs(Cause::Host),
            collection: programs(Cause::Move),
            merges: programs(Cause::Merge),
            folds: programs(Cause::Fold),
            wear: programs(Cause::Wear),
            refresh: programs(Cause::Refresh),
            retirement: programs(Cause::Retire),
            map: programs(Cause::Map),
            rewrites: programs(Cause::Rewrite),
        }
    }
}

impl ErasesByCause {
    /// Those of a tally, with what was seen in the same span; an erase of the FTL is one of `unit_blocks` erase blocks.
    pub(crate) fn new(tally: &Tally, seen: &Watch, unit_blocks: u32) -> Self {
        let erases = |cause| tally.erases_for(cause, seen) * u64::from(unit_blocks);
        Self {
            collection: erases(Cause::Move),
            merges: erases(Cause::Merge),
            folds: erases(Cause::Fold),
            wear: erases(Cause::Wear),
            refresh: erases(Cause::Refresh),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::result::RunResult;
    use crate::{DriveOptions, Experiment, Length, Logical, Workload};
    use ftlab_trace::OpenOptions;

    fn runs(ftls: &[&str], slc_cache: Option<&str>) -> Vec<RunResult> {
        let mut drive = DriveOptions {
            logical: Logical::Pages(4096),
            pages_per_block: Some(16),
            refresh: "age=2000".parse().unwrap(),
            slc_cache: slc_cache.map(|cache| cache.parse().unwrap()),
            ..DriveOptions::default()
        };
        drive.wear.threshold = 4;
        let workload = Workload::parse("hotcold", OpenOptions::default()).unwrap();
        let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
        let length = Length::DriveWrites(5.0);
        Experiment { drive, length, ..Experiment::new(workload, ftls) }.run(&mut ()).unwrap().runs
    }

    #[test]
    fn causes_add_up_to_all_programs_and_erases() {
        let handles = "nvme-fdp/greedy:handles=2,unit=2";
        let mut runs_of_all = runs(&["1r-greedy", "sep-gc/cost-benefit", handles], None);
        runs_of_all.extend(runs(&["2r++"], Some("size=1MiB")));
        let mut happened = [0; 3];
        for run in runs_of_all {
            let of = run.programs_by_cause.unwrap();
            let moved = of.collection + of.folds + of.wear + of.refresh + of.retirement;
            assert_eq!([moved, of.merges], [run.relocations, run.merge_copies], "{}", run.ftl);
            assert_eq!(of.host, run.host_writes, "no write buffer keeps pages back");
            assert_eq!(of.refresh, run.refresh.unwrap().relocations, "{}", run.ftl);
            assert_eq!(of.folds, run.slc.as_ref().map_or(0, |slc| slc.folds), "{}", run.ftl);
            happened = [happened[0] + of.wear, happened[1] + of.refresh, happened[2] + of.folds];
            let of = run.erases_by_cause.unwrap();
            let erases = of.collection + of.merges + of.folds + of.wear + of.refresh;
            assert_eq!(erases, run.erases, "{}", run.ftl);
        }
        assert!(!happened.contains(&0), "{happened:?}");
    }
}
