//! Drives that are 4 and 64 times as large as those that a fit simulates, hidden from it.
//!
//!     cargo run --release --package ftlab-experiments --example hidden_drives -- 0..50
//!     cargo run --release --package ftlab-experiments --example hidden_drives -- 0..50 262144
//!
//! The second command simulates drives as large as `ftlab fit` has them by default. Fifty take hours of processor time.
//! Each line is one of them; the last line counts. The table stands in docs/notes/real-drives.md. Numbers from 100 on were used to set what the fit calls within its bounds and as good.

// What tests need of it is not all that this does.
#[allow(dead_code)]
#[path = "../tests/it/hidden.rs"]
mod hidden;

use hidden::{Case, FITTED_ON};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let asked = std::env::args().nth(1).unwrap_or_else(|| "0..50".to_owned());
    let range = asked
        .split_once("..")
        .and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
    let Some((first, end)) = range else {
        eprintln!("{asked} is no range of numbers; give one such as 0..50");
        return ExitCode::from(2);
    };
    let pages = std::env::args().nth(2).map_or(Ok(FITTED_ON), |pages| pages.parse());
    let Ok(pages) = pages else {
        eprintln!("the pages of a drive are a number, such as {FITTED_ON}");
        return ExitCode::from(2);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "| drive | larger | workload | FTL | units | over-provisioning | found | its own | bounds | off | as good | named |"
    );
    println!("|---:|---:|---|---|---:|---:|---|---:|---|---:|---:|---|");
    let (mut tried, mut near, mut inside, mut named) = (0, 0, 0, 0);
    for number in first..end {
        let case: Case = Case::of(number, pages);
        let (measured, op_ratio) = case.measured();
        let begun = Instant::now();
        let found = case.fit(measured, threads);
        let seconds = begun.elapsed().as_secs_f64();
        let best = &found.drives[0];
        let as_good = &found.drives[..found.as_good];
        let bounds = found.bounds.as_ref();
        let (least, most) = bounds.map_or((f64::NAN, f64::NAN), |own| own.op_ratio);
        let is_named = as_good.iter().any(|own| own.candidate.ftl == case.hidden.ftl);
        let is_near = (best.op_ratio - op_ratio).abs() <= 0.005;
        let is_inside = least <= op_ratio && op_ratio <= most;
        tried += 1;
        near += usize::from(is_near);
        inside += usize::from(is_inside);
        named += usize::from(is_named);
        let percent = |share: f64| format!("{:.2}%", 100.0 * share);
        println!(
            "| {number} | {} | `{}` | `{}` | {} | {} | `{}` | {}{} | {} to {}{} | {} | {} | {} |",
            case.times,
            case.workload,
            case.hidden.ftl,
            case.hidden.units,
            percent(op_ratio),
            best.candidate.ftl,
            percent(best.op_ratio),
            if is_near { "" } else { " (far)" },
            percent(least),
            percent(most),
            if is_inside { "" } else { " (outside)" },
            percent(best.distance.rms),
            found.as_good,
            if is_named { "yes" } else { "no" },
        );
        eprintln!(
            "{number}: {seconds:.0} s; up to {} within bounds",
            bounds.map_or("nothing".into(), |own| percent(own.rms_most))
        );
        for own in found.drives.iter().chain(found.left.iter().take(8)) {
            eprintln!(
                "    {} {} {} {} {}",
                own.candidate.ftl,
                percent(own.op_ratio),
                own.units,
                percent(own.distance.rms),
                own.candidate.gc
            );
        }
    }
    println!("\nof {tried}: {near} within 0.5 points, {inside} inside the bounds, {named} named");
    ExitCode::SUCCESS
}
