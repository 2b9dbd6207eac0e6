//! The command that shows the recommended drive at work.

use super::arguments::AdviseArgs;
use ftlab_experiments::advise::Advice;
use ftlab_sim::{DriveOptions, Fill, Length, UNTIL_STEADY_DRIVE_WRITES};

/// `ftlab run`, of the drive and the run on which the answer rests, if there is an answer.
pub(super) fn command(args: &AdviseArgs, advice: &Advice) -> Option<String> {
    let (ftl, point) = advice.best()?;
    let (drive, base, default) = (&args.drive, &advice.base, DriveOptions::default());
    let mut words = vec!["ftlab".to_owned(), "run".to_owned(), args.workload.clone()];
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    option("--ftl", Some(ftl.to_owned()));
    option("--blocks", Some(point.blocks.to_string()));
    option("--logical", drive.logical.map(|size| size.to_string()));
    option("--pages-per-block", drive.pages_per_block.map(|pages| pages.to_string()));
    let other = |is: u32, usual: u32| (is != usual).then(|| is.to_string());
    option("--page-size", other(drive.page_size, default.page_bytes));
    option("--reserve", other(drive.reserve, default.reserve_blocks));
    option("--fill", (drive.fill != Fill::default()).then(|| drive.fill.to_string()));
    option("--seed", (drive.seed != 1).then(|| drive.seed.to_string()));
    option("--timing", base.timing.as_ref().map(ToString::to_string));
    option("--endurance", base.endurance_cycles.map(|cycles| cycles.to_string()));
    let some = |writes: u64| (writes > 0).then(|| writes.to_string());
    option("--warmup-writes", some(base.warmup_writes));
    match base.length {
        Length::OfWorkload => {}
        Length::Writes(writes) => option("--writes", Some(writes.to_string())),
        Length::DriveWrites(drives) => option("--drive-writes", Some(drives.to_string())),
        Length::UntilSteady(drives) => {
            option("--until", Some("steady".to_owned()));
            let is_usual = (drives - UNTIL_STEADY_DRIVE_WRITES).abs() < f64::EPSILON;
            option("--drive-writes", (!is_usual).then(|| drives.to_string()));
        }
    }
    if base.repeat {
        words.push("--repeat".to_owned());
    }
    if drive.ignore_trims {
        words.push("--ignore-trims".to_owned());
    }
    words.extend(args.reading.words());
    words.extend(["--report".to_owned(), "report.html".to_owned()]);
    shlex::try_join(words.iter().map(String::as_str)).ok()
}
