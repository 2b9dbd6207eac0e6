//! The page of a fleet.

use crate::error::CliError;
use crate::figure::fleet_svg;
use crate::typed::quote;
use ftlab_fleet::{FtlTotals, Manifest, Row, State, Totals};
use ftlab_report::{FleetCell, FleetPage, fleet_page};
use ftlab_sim::format::{bytes, grouped, percent, significant};
use ftlab_trace::replace_file;
use std::io::Write;
use std::path::Path;

/// Problems and flags on the page at most.
const CAVEATS_MAX: usize = 40;

const FTL_HEADINGS: [(&str, &str); 10] = [
    ("packed by", "By what volumes were put on one drive; volumes are drives in what follows"),
    ("over-provisioning", "(physical - logical) / logical, as asked for"),
    ("volumes", "Volumes whose runs are evidence with every FTL; the columns are of these"),
    ("of all writes", "The share of the page writes of all selected volumes that these have"),
    (
        "WAF of all bytes",
        "Pages that flash programs by pages that hosts write, of all volumes together",
    ),
    ("mean", "Mean write amplification, each volume counting as one"),
    ("median", "Half of the volumes have less"),
    ("95%", "95% of the volumes have less"),
    ("less, of all bytes", "How much less is written than with the baseline, as a share of that"),
    ("less, median", "The median of that over volumes"),
];

pub(super) fn write_page(
    manifest: &Manifest,
    totals: &Totals,
    rows: &[Row<'_>],
    page_bytes: u32,
    path: &Path,
) -> Result<(), CliError> {
    let page = FleetPage {
        question: question(manifest, totals),
        answer: answer(totals),
        trust: totals.trust.line.clone(),
        facts: facts(manifest, totals),
        figure: fleet_svg(totals, rows)?,
        ftl_headings: FTL_HEADINGS.to_vec(),
        ftls: totals.ftls.iter().map(ftl).collect(),
        headings: headings(manifest),
        volumes: volumes(manifest, rows, page_bytes),
        caveats: caveats(totals),
        command: manifest
            .words
            .iter()
            .fold("ftlab fleet".to_owned(), |command, word| command + " " + &quote(word)),
    };
    let text = fleet_page(&page).map_err(|error| CliError::failure(error.to_string()))?;
    Ok(replace_file(path, |file| file.write_all(text.as_bytes()))?)
}

fn question(manifest: &Manifest, totals: &Totals) -> String {
    let volumes = match totals.selected {
        1 => "1 volume".to_owned(),
        volumes => format!("{} volumes", grouped(volumes as u64)),
    };
    if !manifest.packs.is_empty() {
        return format!("Which of {volumes} should share a drive?");
    }
    match manifest.ftls.as_slice() {
        [one] => format!("How much does flash write for {volumes} with {one}?"),
        _ => format!("Which FTL writes least for {volumes}?"),
    }
}

fn answer(totals: &Totals) -> String {
    let known = totals.ftls.iter().filter_map(|of| Some((of, of.waf_of_all?, of.waf?)));
    let best = known.min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, waf, spread)) = best else {
        return "No volume is evidence with every FTL, so nothing is compared.".into();
    };
    let less = best.reduction_of_all.filter(|_| best.ftl != totals.baseline);
    let less = less.map_or_else(String::new, |less| {
        format!(", {:.1}% less than with {}", 100.0 * less, totals.baseline)
    });
    let (packed, drives) = match best.packed_by.as_deref() {
        Some("alone") => (", a drive for each volume".to_owned(), "drives"),
        Some(order) => (format!(", volumes put together by {order}"), "drives"),
        None => (String::new(), "volumes"),
    };
    format!(
        "With {}{packed} and {} of over-provisioning, flash writes {} bytes for each byte of the hosts{less}; the median \
         over {} {drives} is {}.",
        best.ftl,
        percent(best.op_ratio),
        significant(waf, 4),
        grouped(best.compared as u64),
        significant(spread.quantiles[3], 4)
    )
}

fn facts(manifest: &Manifest, totals: &Totals) -> Vec<(String, String)> {
    let mut facts = vec![
        ("traces".to_owned(), grouped(manifest.inputs.len() as u64)),
        ("volumes".to_owned(), grouped(totals.volumes as u64)),
        ("of these, run".to_owned(), grouped(totals.selected as u64)),
        ("condition".to_owned(), totals.selection.clone()),
        ("written".to_owned(), bytes(totals.written_bytes[0])),
        ("of this, run".to_owned(), bytes(totals.written_bytes[1])),
    ];
    facts.extend(
        totals.selection_note.iter().map(|note| ("why this condition".into(), note.clone())),
    );
    facts
}

fn ftl(of: &FtlTotals) -> (String, Vec<FleetCell>) {
    let waf = |value: Option<f64>| cell(value, |waf| significant(waf, 4));
    let share = |value: Option<f64>| cell(value, |less| format!("{:.1}%", 100.0 * less));
    let quantile = |place: usize| of.waf.map(|waf| waf.quantiles[place]);
    let cells = vec![
        (of.packed_by.clone().unwrap_or_else(|| "–".into()), None),
        cell(Some(of.op_ratio), percent),
        cell(Some(of.compared as f64), |volumes| grouped(volumes as u64)),
        cell(Some(of.share_of_writes), |share| format!("{:.0}%", 100.0 * share)),
        waf(of.waf_of_all),
        waf(of.waf.map(|waf| waf.mean)),
        waf(quantile(3)),
        waf(quantile(5)),
        share(of.reduction_of_all),
        share(of.reduction.map(|less| less.quantiles[3])),
    ];
    (of.ftl.clone(), cells)
}

/// A value as text and number, or a dash.
fn cell(value: Option<f64>, text: impl Fn(f64) -> String) -> FleetCell {
    (value.map_or_else(|| "–".to_owned(), text), value)
}

/// Headings after the name of a volume.
fn headings(manifest: &Manifest) -> Vec<(String, String)> {
    let own = [
        ("written", "Bytes of its writes"),
        ("footprint", "Bytes of the pages that are written at least once"),
        ("drive", "Bytes that the host can address"),
        ("to 10%", "The share of its page writes that goes to a tenth of the pages written"),
        ("evidence", "Runs that are evidence"),
    ];
    let mut headings: Vec<_> =
        own.map(|(text, meaning)| (text.to_owned(), meaning.to_owned())).into();
    for op in &manifest.op_ratios {
        for ftl in &manifest.ftls {
            let meaning = format!(
                "Write amplification with {ftl}: the steady value, or that of the whole run"
            );
            headings.push((heading(manifest, *op, ftl), meaning));
        }
    }
    headings.push((
        "to keep in mind".into(),
        "Why a run is no evidence, and what is wrong with the volume".into(),
    ));
    headings
}

fn heading(manifest: &Manifest, op: f64, ftl: &str) -> String {
    if manifest.op_ratios.len() == 1 { ftl.to_owned() } else { format!("{ftl}, {}", percent(op)) }
}

/// Volumes that are run, those that write most first.
fn volumes(
    manifest: &Manifest,
    rows: &[Row<'_>],
    page_bytes: u32,
) -> Vec<(String, Vec<FleetCell>)> {
    let runs = (manifest.ftls.len() * manifest.op_ratios.len()).max(1);
    let of_volumes = rows.chunks(runs).filter(|rows| rows[0].state != State::NotSelected);
    let mut of_volumes: Vec<_> = of_volumes.collect();
    let written = |rows: &[Row<'_>]| rows[0].facts().map_or(0, |facts| facts.written_bytes);
    of_volumes.sort_by_key(|rows| std::cmp::Reverse(written(rows)));
    of_volumes.into_iter().map(|rows| volume(rows, page_bytes)).collect()
}

fn volume(rows: &[Row<'_>], page_bytes: u32) -> (String, Vec<FleetCell>) {
    let first = &rows[0];
    let size = |value: Option<u64>| cell(value.map(|size| size as f64), |size| bytes(size as u64));
    let facts = first.facts();
    let evidence = rows.iter().filter(|row| row.state == State::Evidence).count();
    let mut cells = vec![
        size(facts.map(|facts| facts.written_bytes)),
        size(facts.map(|facts| facts.footprint_pages * u64::from(page_bytes))),
        size(first.result.map(|result| result.drive.logical_bytes)),
        cell(first.own_facts().map(|facts| facts.top_10_percent), |share| {
            format!("{:.0}%", 100.0 * share)
        }),
        cell(Some(evidence as f64), |_| format!("{evidence} of {}", rows.len())),
    ];
    for row in rows {
        let waf = row.result.map(|result| result.run.headline_waf());
        let is_evidence = row.state == State::Evidence;
        cells.push(cell(waf, |waf| {
            let text = significant(waf, 4);
            if is_evidence { text } else { format!("({text})") }
        }));
    }
    let why = rows.iter().map(|row| row.why.as_str()).find(|why| !why.is_empty());
    cells.push((why.unwrap_or_default().to_owned(), None));
    (first.volume.volume.name.clone(), cells)
}

fn caveats(totals: &Totals) -> Vec<String> {
    let mut caveats = vec![
        "A number in brackets is no evidence, and enters no mean: the column at the end says why."
            .to_owned(),
    ];
    caveats.extend(totals.problems.iter().take(CAVEATS_MAX).cloned());
    let more = totals.problems.len().saturating_sub(CAVEATS_MAX);
    if more > 0 {
        caveats
            .push(format!("{} more problems of traces are in totals.json.", grouped(more as u64)));
    }
    caveats
}
