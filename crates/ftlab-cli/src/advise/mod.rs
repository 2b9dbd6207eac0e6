//! `ftlab advise`: which FTL, and how much over-provisioning.

mod arguments;
mod base;
mod command;
mod mapping_cache;
mod zones;

pub(crate) use arguments::AdviseArgs;
pub(crate) use base::base;

use command::command;

use crate::error::{CliError, Results};
use crate::figure::{check, trade_off_svg, write_trade_off};
use crate::ftls::Ftls;
use crate::output::{aligned, print, print_json, say};
use crate::progress::runs_so_far;
use crate::report::check_report;
use crate::table::ruled;
use ftlab_experiments::Stop;
use ftlab_experiments::advise::{
    Advice, Choice, Point, Question, Role, Service, Target, op_ratios, tbw_of_dwpd, timing_at,
};
use ftlab_report::{CurvePage, curve_page};
use ftlab_sim::evidence::Standing;
use ftlab_sim::format::{bytes, decimal, grouped, percent, percent_tenths, significant};
use ftlab_sim::{DriveOptions, Experiment, ModelSize, Threads};
use ftlab_trace::replace_file;
use std::io::Write;
use std::num::NonZeroU32;

pub(crate) fn advise(args: &AdviseArgs) -> Result<(), CliError> {
    if !args.drive.zones.is_empty() {
        return zones::advise(args);
    }
    if let Some(sizes) = &args.drive.mapping_cache {
        return mapping_cache::advise(args, sizes);
    }
    args.figure.as_deref().map(check).transpose()?;
    args.report.as_deref().map(|path| check_report(1, path)).transpose()?;
    let question = question(args)?;
    let spinner = runs_so_far(args.quiet);
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    let advice = question.answer(threads, &|runs| {
        spinner.set_message(format!("{runs} runs"));
    })?;
    spinner.finish_and_clear();
    let (headings, rows) = table(&advice);
    let command = command(args, &advice);
    let text = text_of(&evidence(&advice))
        + &model(&advice)
        + &ruled(&headings, rows.clone())
        + &refused(&advice)
        + &advice.answer
        + "\n"
        + &advice.trust.line
        + "\n"
        + &caveats(&advice)
        + &command.as_ref().map_or_else(String::new, |line| format!("\nSee it at work: {line}\n"));
    let mut results = Results::default();
    if args.json {
        say(&text);
        results.note(print_json(&advice));
    } else {
        results.note(print(&text));
    }
    if let Some(path) = &args.figure {
        results.note(write_trade_off(&advice, args.size, path));
    }
    if let Some(path) = &args.report {
        let page = CurvePage {
            kind: "advice".into(),
            evidence_title: "What the workload says".into(),
            title: "What more flash brings".into(),
            label: "Write amplification against over-provisioning".into(),
            caption: "The numbers, the cheapest FTL first; * had not settled, ? no evidence".into(),
            command_title: "See it at work".into(),
            question: title(args, &advice),
            answer: advice.answer.clone(),
            trust: advice.trust.line.clone(),
            evidence: evidence(&advice),
            figure: trade_off_svg(&advice)?,
            headings: headings.iter().map(|heading| heading.replace('\n', " ")).collect(),
            rows,
            caveats: advice.caveats.clone(),
            command,
        };
        let page = curve_page(&page)?;
        let written = replace_file(path, |file| file.write_all(page.as_bytes()));
        results.note(written.map_err(CliError::from));
    }
    results.all()
}

/// What is asked.
fn title(args: &AdviseArgs, advice: &Advice) -> String {
    let drive = advice.drive.as_ref().map_or_else(String::new, |of| format!(" on {}", of.text));
    let workload = format!("{}{drive}", args.workload);
    match advice.target {
        None => format!("What over-provisioning brings for {workload}"),
        Some(Target::Waf(waf)) => {
            format!(
                "How much over-provisioning for a write amplification of {waf} under {workload}?"
            )
        }
        Some(Target::Endurance { tbw, cycles }) => {
            format!(
                "How much over-provisioning for {tbw} terabytes at {cycles} cycles under {workload}?"
            )
        }
        Some(Target::Response(slo)) => {
            format!("How much over-provisioning for {slo} under {workload}?")
        }
    }
}

fn question(args: &AdviseArgs) -> Result<Question, CliError> {
    let asked = &args.drive;
    if !asked.op.is_sorted_by(|a, b| a < b) {
        return Err(CliError::usage("--op is not ascending; give shares such as 7%,10%,28%"));
    }
    let usual = asked.class.map_or_else(DriveOptions::default, |class| class.usual());
    let drive = asked.drive.apply(usual)?;
    let ftls = Choice::new(&Ftls::all(&args.ftl), asked.class.as_ref());
    let lasts = (asked.writes, asked.once);
    let base = base(&args.workload, &args.reading, drive, ftls.answer.clone(), lasts)?;
    let base = asked.run.apply(Experiment {
        timing: args.target.load.map(|load| timing_at(&args.target.timing, load)).transpose()?,
        endurance_cycles: args.target.endurance.map(NonZeroU32::get),
        ..base
    })?;
    let class = asked.class;
    let target = target(args, &base)?;
    let of = &args.service;
    let service = of.daily_writes.map(|daily| Service {
        daily,
        years: of.years,
        price_per_gb: of.price,
        carbon_per_gb: of.carbon,
    });
    Ok(Question {
        base,
        ftls,
        op_ratios: op_ratios(&asked.op, class.as_ref(), target.is_some())?,
        class,
        target,
        service,
        stop: Stop::default(),
    })
}

fn target(args: &AdviseArgs, base: &Experiment) -> Result<Option<Target>, CliError> {
    let asked = &args.target;
    if let Some(slo) = asked.slo {
        return Ok(Some(Target::Response(slo)));
    }
    if let Some(waf) = asked.target_waf {
        return Ok(Some(Target::Waf(waf)));
    }
    let Some(cycles) = base.endurance_cycles else { return Ok(None) };
    let tbw = match (asked.tbw, asked.dwpd) {
        (Some(tbw), _) => tbw,
        (None, Some(dwpd)) => {
            let of_model = || Ok::<_, CliError>(base.prepare()?.config().drive.logical_bytes);
            let bytes = args.drive.class.map_or_else(of_model, |class| Ok(class.capacity.0))?;
            tbw_of_dwpd(dwpd, bytes)
        }
        (None, None) if args.service.daily_writes.is_some() => return Ok(None),
        (None, None) => {
            let remedy =
                "--endurance limits the erases of a block; add --tbw, --dwpd or --daily-writes";
            return Err(CliError::usage(remedy));
        }
    };
    Ok(Some(Target::Endurance { tbw, cycles }))
}

/// A row for every FTL, the cheapest first: what it needs, and its curve.
fn table(advice: &Advice) -> (Vec<String>, Vec<Vec<String>>) {
    let mut drives: Vec<(u32, f64)> =
        advice.grid().map(|point| (point.blocks, point.op_ratio)).collect();
    drives.sort_by_key(|(blocks, _)| *blocks);
    drives.dedup_by_key(|(blocks, _)| *blocks);
    let of = |point: &Point| {
        let mark = match point.standing {
            Standing::None => "?",
            _ if point.has_settled() => "",
            _ => "*",
        };
        significant(point.value(), 4) + mark
    };
    let mut headings = vec!["FTL".to_owned()];
    let is_real = advice.drive.is_some();
    if is_real {
        headings.push("drives\nhave it".to_owned());
    }
    if advice.target.is_some() {
        headings.push("needs".to_owned());
        // That of a model is not that of a drive.
        headings.extend((!is_real).then(|| "metadata\nthen".to_owned()));
    }
    let what = match advice.target {
        Some(Target::Response(slo)) => format!("{}\nin ms", slo.what()),
        _ if advice.grid().any(|point| point.tbw.is_some()) => "TBW".to_owned(),
        _ => "WAF".to_owned(),
    };
    headings.extend(drives.iter().map(|(_, op)| format!("{what} at\n{}", percent(*op))));
    let rows = advice.curves.iter().map(|curve| {
        let mut row = vec![curve.ftl.clone()];
        if is_real {
            row.push(if curve.role == Role::Better { "no" } else { "yes" }.to_owned());
        }
        if advice.target.is_some() {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let percent = if is_real { percent_tenths } else { percent };
            row.push(or_none(curve.needs.map(|point| percent(point.op_ratio))));
            let metadata = or_none(curve.needs.map(|point| bytes(point.metadata_bytes)));
            row.extend((!is_real).then_some(metadata));
        }
        row.extend(drives.iter().map(|(blocks, _)| {
            let point = curve.points.iter().find(|point| point.blocks == *blocks);
            point.map_or_else(|| "-".to_owned(), of)
        }));
        row
    });
    (headings, rows.collect())
}

/// How much the trace says.
fn evidence(advice: &Advice) -> Vec<(String, String)> {
    let Some(evidence) = &advice.evidence else { return Vec::new() };
    let seconds = evidence
        .seconds
        .map_or_else(String::new, |seconds| format!(" in {} s", significant(seconds, 3)));
    let written = format!(
        "{} in {} page writes{seconds}; {} drive writes",
        bytes(evidence.written_bytes),
        grouped(evidence.page_writes),
        significant(evidence.drive_writes, 3)
    );
    let pages = format!("{} of the drive", percent(evidence.written_share));
    let rewrites = format!(
        "{} of the page writes replace earlier ones; {} of those of the last half go to new pages",
        percent(evidence.rewrite_share),
        percent(evidence.new_share)
    );
    [
        ("written", written),
        ("to", pages),
        ("rewrites", rewrites),
        ("trimmed", format!("{} pages", grouped(evidence.trimmed_pages))),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// What stands for a real drive.
fn model(advice: &Advice) -> String {
    let Some(drive) = &advice.drive else { return String::new() };
    let ModelSize { pages, pages_per_block, copies } = drive.model;
    let copies = match copies {
        1 => String::new(),
        _ => format!("; the trace {} times, side by side", grouped(copies)),
    };
    let unit = if drive.is_unit_known { "" } else { " (assumed)" };
    let lines = [
        (
            "drive",
            format!(
                "{}, {} units of {}{unit}",
                drive.text,
                grouped(drive.units),
                decimal(drive.unit_bytes)
            ),
        ),
        (
            "model",
            format!(
                "{} pages in units of {}{copies}",
                grouped(pages),
                grouped(pages_per_block.into())
            ),
        ),
    ];
    aligned(&lines) + "\n"
}

fn text_of(evidence: &[(String, String)]) -> String {
    let lines: Vec<_> =
        evidence.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    if lines.is_empty() { String::new() } else { aligned(&lines) + "\n" }
}

/// What to keep in mind.
fn caveats(advice: &Advice) -> String {
    let lines = advice.caveats.iter().flat_map(|caveat| ["- ", caveat.as_str(), "\n"]);
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\nTo keep in mind:\n{lines}") }
}

/// Why some drives are too small for some FTLs, each once.
fn refused(advice: &Advice) -> String {
    let reasons = advice.curves.iter().filter_map(|curve| curve.refused.as_deref());
    reasons.flat_map(|reason| [reason, "\n\n"]).collect()
}
