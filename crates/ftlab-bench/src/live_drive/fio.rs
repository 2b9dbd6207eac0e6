//! One run of fio, and the CPU time of the server.

use crate::common::Failure;
use rustix::param::clock_ticks_per_second;
use std::process::Command;

/// One run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Operations per second.
    pub(crate) iops: f64,
    /// Median latency of an operation, in microseconds.
    pub(crate) p50_us: f64,
    /// CPU time of the server per operation, in microseconds.
    pub(crate) cpu_us: f64,
}

/// Runs fio on `target`, served by the processes `pids`.
pub(crate) fn run(
    target: &[String],
    queue_depth: u32,
    seconds: u32,
    pids: &[u32],
) -> Result<Measured, Failure> {
    let before = processor_seconds(pids)?;
    let output = Command::new("fio")
        .args(["--name=j", "--rw=randwrite", "--bs=4k", "--size=4G", "--norandommap"])
        .args(["--thread=1", "--time_based", "--output-format=json"])
        .arg(format!("--iodepth={queue_depth}"))
        .arg(format!("--runtime={seconds}"))
        .args(target)
        .output()?;
    let processor = processor_seconds(pids)? - before;
    if !output.status.success() {
        return Err(format!("fio: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let write = text.split("\"write\" :").nth(1).ok_or("fio reports no writes")?;
    let operations = number_after(write, "\"total_ios\" : ")?;
    let p50_ns = number_after(write, "\"50.000000\" : ")?;
    Ok(Measured {
        iops: number_after(write, "\"iops\" : ")?,
        p50_us: p50_ns / 1e3,
        cpu_us: processor * 1e6 / operations.max(1.0),
    })
}

/// The number that follows the first `key`.
fn number_after(text: &str, key: &str) -> Result<f64, Failure> {
    let rest = text.split(key).nth(1).ok_or_else(|| format!("fio does not report {key}"))?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    Ok(rest[..end].parse()?)
}

/// CPU time of these processes so far.
fn processor_seconds(pids: &[u32]) -> Result<f64, Failure> {
    let mut ticks = 0;
    for pid in pids {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name of the program may contain anything, but ends with the last bracket.
        let (_, fields) = stat.rsplit_once(')').ok_or("a process without a name")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // utime and stime, the 14th and 15th field.
        ticks += fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    }
    Ok(ticks as f64 / clock_ticks_per_second() as f64)
}
