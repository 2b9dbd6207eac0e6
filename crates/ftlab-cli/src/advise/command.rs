//! The command that shows the recommended drive at work.

use super::arguments::AdviseArgs;
use ftlab_experiments::advise::Advice;
use ftlab_sim::{Length, UNTIL_STEADY_DRIVE_WRITES};

/// `ftlab run`, of the drive and the run on which the answer rests, if there is an answer.
pub(super) fn command(args: &AdviseArgs, advice: &Advice) -> Option<String> {
    let (ftl, point) = advice.best()?;
    let base = &advice.base;
    let mut words = ["ftlab", "run", &args.workload, "--ftl", ftl].map(str::to_owned).to_vec();
    words.extend(args.drive.class.iter().flat_map(|class| ["--drive".into(), class.typed()]));
    words.extend(["--blocks".to_owned(), point.blocks.to_string()]);
    words.extend(args.drive.drive.typed());
    words.extend(args.drive.run.typed());
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
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
    words.extend(args.reading.words());
    words.extend(["--report".to_owned(), "report.html".to_owned()]);
    shlex::try_join(words.iter().map(String::as_str)).ok()
}
