//! What a fit is told as.

use crate::output::aligned;
use crate::table::ruled;
use ftlab_experiments::fit::{
    Bounds, Errors, Fit, Instead, OfSeries, Question, Reading, Series, SeriesFacts, Trial, Verdict,
    off,
};
use ftlab_ftl::page::GcSchedule;
use ftlab_sim::format::{bytes, grouped, percent, significant};
use std::path::Path;

/// All of it, as text.
pub(super) fn told(
    question: &Question,
    readings: &[Reading],
    page_bytes: u32,
    fit: &Fit,
) -> String {
    header(question, readings, page_bytes, fit)
        + &table(fit)
        + "\n"
        + &by_series(fit)
        + &answer(fit)
}

/// What was measured, and how it is simulated.
fn header(question: &Question, readings: &[Reading], page_bytes: u32, fit: &Fit) -> String {
    let real = fit.drives[0].candidate.capacity;
    let simulated = u64::from(fit.pages) * u64::from(page_bytes);
    let mut lines = Vec::new();
    for ((series, reading), facts) in question.series.iter().zip(readings).zip(&fit.series) {
        lines.extend(of_series(series, reading, facts, real));
    }
    lines.push((
        "simulated",
        format!(
            "{} pages or more, {}, for {}: as many units, each up to {} times smaller",
            grouped(fit.pages.into()),
            bytes(simulated),
            decimal(real as f64),
            significant((real as f64 / simulated as f64).max(1.0), 3)
        ),
    ));
    if fit.overhead > 0.0 {
        lines.push(("overhead", format!("{} of what is written", tenths(fit.overhead))));
    }
    aligned(&lines) + "\n"
}

/// What was measured in a series.
fn of_series(
    series: &Series,
    reading: &Reading,
    facts: &SeriesFacts,
    capacity: u64,
) -> Vec<(&'static str, String)> {
    let Series { measured, .. } = series;
    let mut lines = vec![
        (
            "series",
            format!(
                "{}: {} samples{}, {} TB of the host, {} drive writes",
                series.name,
                facts.samples_read,
                merged(facts),
                significant(measured.host_bytes() / 1e12, 4),
                significant(measured.host_bytes() / capacity as f64, 3)
            ),
        ),
        ("read", reading.to_string()),
        (
            if facts.error > 0.0 { "by pace" } else { "measured" },
            format!(
                "{} media bytes per host byte, {} over the last fifth{}",
                significant(measured.waf(), 4),
                significant(measured.waf_last_fifth(), 4),
                in_part(facts)
            ),
        ),
    ];
    if series.skip > 0.0 {
        lines.push(("skipped", format!("the first {} drive writes", series.skip)));
    }
    lines
}

/// What is said of counters that are refreshed more rarely than they were read, and of a pace that is a mean.
fn merged(facts: &SeriesFacts) -> String {
    if facts.error > 0.0 && facts.samples == 2 && facts.samples_read > 2 {
        return ", one mean since the pace does not change".to_owned();
    }
    // The end of a series may just not have been refreshed.
    if facts.samples + 2 >= facts.samples_read {
        return String::new();
    }
    format!(", merged to {} because the drive refreshes its counters more rarely", facts.samples)
}

/// What is said of a host that writes pages in part; nothing if it writes whole pages.
fn in_part(facts: &SeriesFacts) -> String {
    if facts.media_bytes_per_host_byte <= facts.waf {
        return String::new();
    }
    format!(
        "; the host writes pages in part, and the write amplification of pages is {}",
        significant(facts.waf, 4)
    )
}

/// A row for each FTL: those that were followed to the end, and the best of the others.
fn table(fit: &Fit) -> String {
    let several =
        fit.drives.iter().any(|t| t.candidate.capacity != fit.drives[0].candidate.capacity);
    let mut headings: Vec<String> =
        ["FTL", "over-\nprovisioning", "unit", "units", "off, rms\nof WAF - 1", "off, last\nfifth"]
            .map(str::to_owned)
            .to_vec();
    if several {
        headings.insert(1, "capacity".into());
    }
    let row = |trial: &Trial, mark: &str| {
        let mut row = vec![
            format!("{}{mark}", trial.candidate.ftl),
            tenths(trial.op_ratio),
            decimal(trial.unit_bytes),
            grouped(trial.units.into()),
            tenths(trial.distance.rms),
            signed(trial.distance.last_fifth),
        ];
        if several {
            row.insert(1, decimal(trial.candidate.capacity as f64));
        }
        row
    };
    let drives = fit.drives.iter().enumerate();
    let mut rows: Vec<_> = drives
        .map(|(place, trial)| {
            row(trial, if place > 0 && place < fit.as_good { " (as good)" } else { "" })
        })
        .collect();
    rows.extend(fit.left.iter().take(3).map(|trial| row(trial, " (not followed)")));
    ruled(&headings, rows)
}

/// The drive in words, its bounds, and what to keep in mind.
fn answer(fit: &Fit) -> String {
    let best = &fit.drives[0];
    let fitted = match fit.series.len() {
        1 => "this series".to_owned(),
        count => format!("these {count} series"),
    };
    let bounds = fit.bounds.as_ref();
    let within = |of: &dyn Fn(&Bounds) -> (String, String)| {
        bounds.map(of).map_or_else(String::new, |(least, most)| format!(" ({least} to {most})"))
    };
    let sentence = format!(
        "{} with {} of over-provisioning{}, units of {}{} and a reserve of {} of them{}: \
         {} off over the intervals, {} over the last fifth. Fitted to {fitted}.\n",
        best.candidate.ftl,
        tenths(best.op_ratio),
        within(&|own| (tenths(own.op_ratio.0), tenths(own.op_ratio.1))),
        decimal(best.unit_bytes),
        within(&|own| (decimal(own.unit_bytes.0), decimal(own.unit_bytes.1))),
        best.candidate.reserve,
        within(&|own| (own.reserve.0.to_string(), own.reserve.1.to_string())),
        tenths(best.distance.rms),
        signed(best.distance.last_fifth)
    );
    let caveats = caveats(fit);
    let caveats: String = caveats.iter().flat_map(|caveat| ["- ", caveat.as_str(), "\n"]).collect();
    format!("{}{sentence}\nTo keep in mind:\n{caveats}", verdict(fit))
}

/// What is said first if the drive does not explain what was measured.
fn verdict(fit: &Fit) -> String {
    let off = tenths(fit.drives[0].distance.rms);
    let causes = match &fit.verdict {
        Verdict::Explained => return String::new(),
        Verdict::InPart => {
            return format!(
                "This is explained in part: the nearest drive is {off} off, so the real one does something else as well.\n\n"
            );
        }
        Verdict::Unexplained { causes } => causes,
    };
    let what = if fit.series.len() == 1 { "this series" } else { "these series" };
    let mut text =
        format!("NOTHING HERE EXPLAINS {}: the nearest drive is {off} off.\n", what.to_uppercase());
    for cause in causes {
        let (instead, check) = match &cause.instead {
            Instead::Capacity(bytes) => {
                (format!("a capacity of {}", decimal(*bytes as f64)), "--logical".to_owned())
            }
            Instead::Workload { index, workload } => (
                format!("the workload {workload}"),
                format!("the workload of {}", fit.series[*index].name),
            ),
        };
        let line = format!(
            "- With {instead}, {} is only {} off: check {check}.\n",
            cause.ftl,
            tenths(cause.rms)
        );
        text.push_str(&line);
    }
    if causes.is_empty() {
        text.push_str(
            "- No other capacity or plain workload comes near either. Check the job, --fill, --skip and --page-size; or the \
             drive does what no FTL here does.\n",
        );
    }
    text.push_str("Do not use the drive below for predictions.\n\n");
    text
}

/// A row for each series: how far the first drive is off, and how far a fit of the others is.
fn by_series(fit: &Fit) -> String {
    if fit.series.len() == 1 {
        return String::new();
    }
    let headings = [
        "series",
        "WAF,\nmeasured",
        "fitted",
        "off",
        "predicted by\nthe others",
        "off",
        "their FTL,\nover-provisioning",
    ];
    let row = |own: &OfSeries| {
        let facts = &fit.series[own.index];
        let name = Path::new(&facts.name).file_stem();
        let mut row = vec![
            name.map_or_else(|| facts.name.clone(), |name| name.to_string_lossy().into_owned()),
            significant(facts.waf, 4),
            significant(own.waf, 4),
            signed(off(own.waf, facts.waf)),
        ];
        match fit.left_out.iter().find(|left_out| left_out.index == own.index) {
            Some(left_out) => row.extend([
                significant(left_out.waf.1, 4),
                signed(left_out.off()),
                format!("{}, {}", left_out.ftl, tenths(left_out.op_ratio)),
            ]),
            None => row.extend(["-"; 3].map(str::to_owned)),
        }
        row
    };
    let rows: Vec<Vec<String>> = fit.drives[0].series.iter().map(row).collect();
    let table = ruled(&headings.map(str::to_owned), rows);
    let Some(errors) = Errors::of(&fit.left_out) else { return table + "\n" };
    format!(
        "{table}Each predicted by a fit of the others: half are within {} of WAF - 1, nine of ten within {}; {} of {} pairs \
         in order.\n\n",
        tenths(errors.median),
        tenths(errors.nine_tenths),
        errors.in_order,
        errors.pairs
    )
}

fn caveats(fit: &Fit) -> Vec<String> {
    let best = &fit.drives[0];
    let mut caveats = Vec::new();
    caveats.extend(fit.bounds.as_ref().map(|bounds| {
        format!(
            "In brackets is what the series does not exclude if this is the FTL (profile likelihood, 95%, {} \
             independent intervals): up to {} off.",
            significant(bounds.intervals, 2),
            tenths(bounds.rms_most)
        )
    }));
    let error = fit.error();
    if error > 0.0 {
        caveats.push(format!(
            "What was written to the medium follows from how long writes took, and from --sequential. WAF - 1 is known \
             within {} (one standard deviation), however near the drive is.",
            percent(error)
        ));
    }
    caveats.push(format!(
        "The reserve is part of the over-provisioning: with one more unit in reserve it would be {} more.",
        percent(best.unit_bytes / best.candidate.capacity as f64)
    ));
    if fit.overhead > 0.0 && !fit.overhead_of.is_empty() {
        caveats.push(format!(
            "The overhead of {} was measured in the first drive write of {}, when the drive is taken to have been empty. If \
             it was not, say how it was filled (--fill), or give the overhead (--overhead).",
            tenths(fit.overhead),
            fit.overhead_of.join(" and ")
        ));
    }
    let how = match best.candidate.gc.parse() {
        Ok(GcSchedule::Gradual { .. }) => ", in proportion to the free units that are missing",
        Ok(GcSchedule::Throttled { .. }) => {
            ": only units that are mostly invalid, with at most so many moves for each page of the host"
        }
        _ => "",
    };
    if best.candidate.gc != GcSchedule::Foreground.to_string() {
        let gc = &best.candidate.gc;
        caveats.push(format!("It collects before it has to (--gc {gc}){how}."));
    }
    if fit.as_good > 1 {
        let names: Vec<_> =
            fit.drives[1..fit.as_good].iter().map(|trial| trial.candidate.ftl.as_str()).collect();
        caveats.push(format!("The series cannot tell it from {}.", names.join(", ")));
    }
    caveats.extend(fit.scales.as_ref().map(|scales| {
        format!(
            "The same drive with {} pages is {} off over the intervals of the first {} TB, and this one {}.",
            grouped(scales.pages.into()),
            tenths(scales.larger.distance.rms),
            significant(scales.host_bytes / 1e12, 3),
            tenths(scales.own.distance.rms)
        )
    }));
    if fit.series.len() == 1 {
        caveats.push(
            "It is fitted to one series, and not checked on another: give a second one of another workload (--and)."
                .into(),
        );
    }
    if !fit.left.is_empty() {
        caveats.push(
            "Drives that were not followed are held against the beginning of the series.".into(),
        );
    }
    caveats.extend(
        fit.refused
            .as_ref()
            .map(|refused| format!("Some drives were not possible, such as {refused}")),
    );
    caveats
}

fn tenths(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn signed(share: f64) -> String {
    format!("{:+.1}%", 100.0 * share)
}

/// Bytes as drives are sold: with powers of ten.
fn decimal(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let (unit, size) = units.into_iter().find(|(_, size)| bytes >= *size).unwrap_or(("B", 1.0));
    format!("{} {unit}", significant(bytes / size, 3))
}
