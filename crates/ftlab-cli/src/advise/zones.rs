//! `ftlab advise zones --zones`: which zones a host should write on a drive that has none.

use super::AdviseArgs;
use crate::error::CliError;
use crate::ftls::Ftls;
use crate::output::{print, print_json, say};
use crate::progress::runs_so_far;
use crate::table::ruled;
use ftlab_experiments::Stop;
use ftlab_experiments::zones::{ZonesAdvice, ZonesQuestion};
use ftlab_sim::format::{significant, whole};
use ftlab_sim::trust::over_provisioning;
use ftlab_sim::{Experiment, Physical, Threads, Workload};

/// The most that is to be amplified, if nothing else is asked for.
const USUAL_TARGET: f64 = 1.05;

/// What drives have, if nothing is known of this one.
const USUAL_FTLS: [&str; 2] = ["sep-gc/cost-benefit", "1r-greedy"];

pub(super) fn advise(args: &AdviseArgs) -> Result<(), CliError> {
    if args.workload != "zones" {
        return Err(CliError::usage(format!(
            "--zones asks about zones, and not about {}; type `ftlab advise zones --zones ...`",
            args.workload
        )));
    }
    let asked = &args.drive;
    let Some(class) = asked.class else {
        return Err(CliError::usage("--zones needs the drive: --drive \"7.68TB, 18%, 3.75GB\""));
    };
    if asked.zones.iter().any(|size| size.0 == 0) {
        return Err(CliError::usage("--zones 0 is no size above 0; give --zones 1GiB,2GiB"));
    }
    let drive = asked.drive.apply(class.usual())?;
    let workload = Workload::parse("zones", args.reading.open_options(drive.page_bytes))?;
    let base = asked.run.apply(Experiment { drive, ..Experiment::new(workload, Vec::new()) })?;
    let question = ZonesQuestion {
        base,
        class,
        ftls: match (Ftls::all(&args.ftl), class.known) {
            (ftls, _) if !ftls.is_empty() => ftls,
            (_, Some(known)) => vec![known.ftl.clone()],
            (_, None) => USUAL_FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?,
        },
        sizes: asked.zones.clone(),
        open: asked.open.clone(),
        target_waf: args.target.target_waf.unwrap_or(USUAL_TARGET),
        stop: Stop::default(),
    };
    let spinner = runs_so_far(args.quiet);
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    let advice = question.answer(threads, &|runs| spinner.set_message(format!("{runs} runs")))?;
    spinner.finish_and_clear();
    let op = match question.base.drive.physical {
        Physical::OverProvisioning(share) if question.class.op.is_none() => {
            Some(over_provisioning(share.0))
        }
        _ => None,
    };
    let assumed: Vec<String> = question.class.assumed().into_iter().chain(op).collect();
    let assumed = match assumed.join("; ") {
        all if all.is_empty() => all,
        all => format!("Assumed: {all}. Give them with --drive.\n"),
    };
    let text = format!("{}{}\n{assumed}", table(&question, &advice), advice.answer);
    if args.json {
        say(&text);
        return print_json(&advice);
    }
    print(&text)
}

/// A row for each FTL and number of open zones, with a column for each size.
fn table(question: &ZonesQuestion, advice: &ZonesAdvice) -> String {
    let mut headings = vec!["FTL".to_owned(), "open".to_owned()];
    headings.extend(question.sizes.iter().map(|size| whole(size.0)));
    let rows = advice.points.chunks(question.sizes.len()).map(|of_sizes| {
        let mut row = vec![of_sizes[0].ftl.clone(), of_sizes[0].open.to_string()];
        row.extend(
            of_sizes
                .iter()
                .map(|own| own.waf.map_or_else(|| "-".to_owned(), |waf| significant(waf, 4))),
        );
        row
    });
    ruled(&headings, rows.collect::<Vec<_>>())
}
