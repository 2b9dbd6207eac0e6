//! The cost of serving a drive: 4 KiB random writes by fio to our servers and to nbdkit, interleaved, in
//! memory. CPU time is that of the server's processes (`/proc/PID/stat`).
//!
//! Servers that are not installed (`make setup-drive`), or require root, are reported and skipped.

mod contender;
mod fio;
mod programs;

use crate::common::Failure;
use contender::{CONTENDERS, Contender, Over};
use fio::Measured;
use programs::Programs;

const QUEUE_DEPTHS: [u32; 2] = [1, 32];

/// Measures every contender `rounds` times for `seconds` seconds at each queue depth.
pub(crate) fn measure(arguments: &[&str]) -> Result<(), Failure> {
    let number = |index: usize, default: u32| -> Result<u32, Failure> {
        arguments.get(index).map_or(Ok(default), |text| text.parse().map_err(Failure::from))
    };
    let (seconds, rounds) = (number(0, 3)?, number(1, 5)?);
    let programs = Programs::find()?;
    let present: Vec<_> = CONTENDERS
        .iter()
        .filter(|contender| match contender.missing(&programs) {
            Some(why) => {
                println!("skipped: {} ({why})", contender.name);
                false
            }
            None => true,
        })
        .collect();
    println!(
        "4 KiB random writes, {rounds} rounds of {seconds} s, medians (least to most)\n\
         {:<34} {:>5} {:>20} {:>18} {:>22}",
        "server", "QD", "IOPS", "p50 us", "server CPU us per op"
    );
    for queue_depth in QUEUE_DEPTHS {
        let mut results = vec![Vec::new(); present.len()];
        for _ in 0..rounds {
            for (contender, results) in present.iter().zip(&mut results) {
                results.push(contender.measure(&programs, queue_depth, seconds)?);
            }
        }
        for (contender, results) in present.iter().zip(&results) {
            print_row(contender, queue_depth, results);
        }
        compare(&present, &results);
    }
    Ok(())
}

fn print_row(contender: &Contender, queue_depth: u32, results: &[Measured]) {
    let column = |of: fn(&Measured) -> f64, digits: usize| {
        let mut values: Vec<f64> = results.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        format!("{:.digits$} ({least:.digits$}-{most:.digits$})", median(&values))
    };
    println!(
        "{:<34} {:>5} {:>20} {:>18} {:>22}",
        contender.name,
        queue_depth,
        column(|m| m.iops / 1e3, 0) + " k",
        column(|m| m.p50_us, 1),
        column(|m| m.cpu_us, 2),
    );
}

/// Our servers, as ratios to their peers.
fn compare(present: &[&Contender], results: &[Vec<Measured>]) {
    let medians = |results: &[Measured]| {
        let of = |value: fn(&Measured) -> f64| {
            let mut values: Vec<f64> = results.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            median(&values)
        };
        (of(|m| m.iops), of(|m| m.cpu_us))
    };
    for over in [Over::Nbd, Over::Loop] {
        let of = |is_peer: bool| {
            let rows = present.iter().zip(results);
            rows.filter(move |(c, _)| c.over == over && c.is_peer == is_peer)
        };
        let Some((peer, theirs)) = of(true).next() else { continue };
        let (their_iops, their_cpu) = medians(theirs);
        for (own, ours) in of(false) {
            let (iops, cpu) = medians(ours);
            println!(
                "  {} to {}: IOPS x{:.2}, server CPU x{:.2}",
                own.name,
                peer.name,
                iops / their_iops,
                cpu / their_cpu
            );
        }
    }
}

/// Of values in ascending order.
fn median(values: &[f64]) -> f64 {
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}
