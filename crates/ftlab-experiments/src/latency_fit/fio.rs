//! Latencies of jobs of fio, from its `--output-format=json` or `json+`.
//!
//! Jobs that ran at once, which fio numbers as a group, are a load. Where several of them read, or write, their
//! percentiles are those of all, from the bins of `json+`.

use super::measured::{LatencyTimes, MeasuredLoad};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is simulated: requests of a page.
const REQUEST_BYTES: f64 = 4096.0;

/// Requests under way of all copies of a job, at most.
const DEPTH_MAX: u32 = 1 << 20;

/// How many more requests may be under way than jobs are said to have, as a factor.
const DEPTH_MOST: f64 = 1.1;

/// How much of its depth a job without a rate has under way, at least; the rest is the time between a completion and the
/// next request.
const DEPTH_LEAST: f64 = 0.5;

/// Its names of percentiles.
const PERCENTILES: [(&str, f64); 3] =
    [("50.000000", 0.5), ("99.000000", 0.99), ("99.900000", 0.999)];

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, String>,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    groupid: u32,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    read: Direction,
    write: Direction,
}

#[derive(Deserialize)]
struct Direction {
    #[serde(default)]
    io_bytes: u64,
    #[serde(default)]
    total_ios: u64,
    #[serde(default)]
    iops: f64,
    #[serde(default)]
    clat_ns: Completion,
    #[serde(default)]
    lat_ns: Completion,
}

#[derive(Deserialize, Default)]
struct Completion {
    #[serde(default)]
    mean: f64,
    #[serde(rename = "N", default)]
    count: u64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

/// Whether a file looks like one of fio, not a table.
pub(super) fn is_of_fio(text: &str) -> bool {
    text.contains("\"fio version\"")
}

/// The loads of all groups of jobs.
pub(super) fn loads(text: &str) -> Result<Vec<MeasuredLoad>, String> {
    // Warnings come before it.
    let begin = text.find('{').unwrap_or(0);
    let output: Output = serde_json::from_str(&text[begin..]).map_err(|error| {
        format!("it is no output of fio that is whole: {error}; write it with --output-format=json+ --output=FILE")
    })?;
    let mut groups: BTreeMap<u32, Vec<&Job>> = BTreeMap::new();
    for job in &output.jobs {
        groups.entry(job.groupid).or_default().push(job);
    }
    if groups.is_empty() {
        return Err("it has no job; give the output of at least one".into());
    }
    groups.values().map(|jobs| load(jobs, &output.global)).collect()
}

/// What jobs did that ran at once.
fn load(jobs: &[&Job], global: &BTreeMap<String, String>) -> Result<MeasuredLoad, String> {
    let mut depth = 0_u32;
    let mut rates = [Some(0.0), Some(0.0)];
    for job in jobs {
        check(job, global)?;
        // fio lists each copy of a job by itself, unless it reports the group.
        let listed = jobs.iter().filter(|other| other.jobname == job.jobname).count() as u32;
        let copies = (number_of(job, global, "numjobs")? / listed).max(1);
        let of_job = number_of(job, global, "iodepth")?.checked_mul(copies);
        let of_job = of_job.filter(|depth| *depth <= DEPTH_MAX).ok_or_else(|| {
            format!("job {}: iodepth times numjobs is more than {DEPTH_MAX}", job.jobname)
        })?;
        let rate = rates_of(job, global, copies)?;
        check_depth(job, of_job, rate)?;
        depth = depth.saturating_add(of_job);
        for ((sum, rate), of) in rates.iter_mut().zip(rate).zip([&job.read, &job.write]) {
            if of.total_ios > 0 {
                *sum = sum.zip(rate).map(|(sum, rate)| sum + rate);
            }
        }
    }
    let per_second = |of: fn(&Job) -> &Direction| jobs.iter().map(|job| of(job).iops).sum::<f64>();
    let [reads_per_second, writes_per_second] =
        [per_second(|job| &job.read), per_second(|job| &job.write)];
    let [reads_asked, writes_asked] = rates;
    // A load has a rate if all of its jobs do.
    let asked = reads_asked.zip(writes_asked);
    let asked = asked.map(|(reads, writes)| if writes_per_second > 0.0 { writes } else { reads });
    Ok(MeasuredLoad {
        name: jobs.first().map(|job| job.jobname.clone()),
        asked_per_second: asked,
        writes_per_second,
        reads_per_second: Some(reads_per_second),
        queue_depth: Some(depth),
        reads: times(jobs, |job| &job.read)?,
        writes: times(jobs, |job| &job.write)?,
    })
}

/// An option of a job, or of all.
fn option<'a>(job: &'a Job, global: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    job.options.get(name).or_else(|| global.get(name)).map(String::as_str)
}

fn number_of(job: &Job, global: &BTreeMap<String, String>, name: &str) -> Result<u32, String> {
    let Some(text) = option(job, global, name) else { return Ok(1) };
    let number = text.parse().ok().filter(|number| (1..=65_536).contains(number));
    number.ok_or_else(|| {
        format!("job {}: {name}={text} is not a number in 1..=65536; give one", job.jobname)
    })
}

/// Requests a second that all copies of a job may do at most: reads and writes.
fn rates_of(
    job: &Job,
    global: &BTreeMap<String, String>,
    copies: u32,
) -> Result<[Option<f64>; 2], String> {
    let Some(text) = option(job, global, "rate_iops") else { return Ok([None, None]) };
    let copies = f64::from(copies);
    let mut rates = text.split(',').map(|rate| match rate.trim() {
        "" => Ok(None),
        rate => {
            let number = rate.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
            number.map(|rate| Some(copies * rate)).ok_or_else(|| rate.to_owned())
        }
    });
    let wrong = |rate: String| {
        format!(
            "job {}: rate_iops={rate} is not a number; give requests a second, without a unit",
            job.jobname
        )
    };
    let reads = rates.next().unwrap_or(Ok(None)).map_err(wrong)?;
    let writes = rates.next().unwrap_or(Ok(reads)).map_err(wrong)?;
    Ok([reads, writes])
}

/// Refuses jobs of other requests than those that are simulated.
fn check(job: &Job, global: &BTreeMap<String, String>) -> Result<(), String> {
    let name = &job.jobname;
    if job.error != 0 {
        return Err(format!("job {name} ended with error {}; repeat it", job.error));
    }
    let how = option(job, global, "rw").or_else(|| option(job, global, "readwrite"));
    let how = how.unwrap_or("read");
    if !["randread", "randwrite", "randrw"].contains(&how) {
        return Err(format!(
            "job {name} has rw={how}, and requests at random are simulated; leave it out, or use randread, randwrite or randrw"
        ));
    }
    let drawn = option(job, global, "random_distribution").unwrap_or("random");
    if drawn != "random" {
        return Err(format!(
            "job {name} has random_distribution={drawn}, and pages that are alike are simulated; leave that out"
        ));
    }
    for of in [&job.read, &job.write] {
        let bytes = of.io_bytes as f64 / of.total_ios.max(1) as f64;
        if of.total_ios > 0 && bytes != REQUEST_BYTES {
            return Err(format!(
                "job {name} has requests of {bytes:.0} bytes, and such of 4 KiB are simulated; use bs=4k"
            ));
        }
    }
    if job.read.total_ios + job.write.total_ios == 0 {
        return Err(format!("job {name} read and wrote nothing; leave it out"));
    }
    Ok(())
}

/// Refuses a job that has not as many requests under way as it says: by Little's law, as many as come in the time that one
/// takes.
fn check_depth(job: &Job, depth: u32, rates: [Option<f64>; 2]) -> Result<(), String> {
    let in_sum: f64 = [&job.read, &job.write].iter().map(|of| of.iops * of.lat_ns.mean / 1e9).sum();
    let name = &job.jobname;
    let is_free = rates.iter().any(Option::is_none);
    let under_way = format!(
        "job {name} had {in_sum:.1} requests under way on average, and its options say {depth}"
    );
    if in_sum > DEPTH_MOST * f64::from(depth) {
        return Err(format!(
            "{under_way}; leave out group_reporting, which hides the options of other jobs"
        ));
    }
    if is_free && in_sum > 0.0 && in_sum < DEPTH_LEAST * f64::from(depth) {
        return Err(format!(
            "{under_way}; use an ioengine that is asynchronous, such as io_uring with direct=1"
        ));
    }
    Ok(())
}

/// Completion latencies of all jobs.
fn times(jobs: &[&Job], of: fn(&Job) -> &Direction) -> Result<LatencyTimes, String> {
    let all: Vec<(&str, &Completion)> = jobs
        .iter()
        .map(|job| (job.jobname.as_str(), &of(job).clat_ns))
        .filter(|(_, times)| times.count > 0)
        .collect();
    let count: u64 = all.iter().map(|(_, times)| times.count).sum();
    if count == 0 {
        return Ok(LatencyTimes::default());
    }
    let sum: f64 = all.iter().map(|(_, times)| times.mean * times.count as f64).sum();
    let bins = bins(&all)?;
    let percentile = |(name, share): (&str, f64)| match all.as_slice() {
        [(_, one)] if one.percentile.contains_key(name) => one.percentile.get(name).copied(),
        _ => of_bins(&bins, share),
    };
    if let [(first, _), (second, _), ..] = all.as_slice()
        && bins.is_empty()
    {
        return Err(format!(
            "jobs {first} and {second} ran at once, and percentiles do not add up; write the bins (--output-format=json+), or \
             let one follow the other (stonewall)"
        ));
    }
    let [p50, p99, p99_9] = PERCENTILES.map(|of| percentile(of).map(|ns| ns / 1e3));
    Ok(LatencyTimes {
        mean_us: Some(sum / count as f64 / 1e3),
        p50_us: p50,
        p99_us: p99,
        p99_9_us: p99_9,
    })
}

/// Nanoseconds, and how many requests took about as long, if all have bins.
fn bins(all: &[(&str, &Completion)]) -> Result<BTreeMap<u64, u64>, String> {
    let mut bins = BTreeMap::new();
    if all.iter().any(|(_, times)| times.bins.is_empty()) {
        return Ok(bins);
    }
    for (name, times) in all {
        for (ns, count) in &times.bins {
            let ns = ns.parse().map_err(|_| {
                format!(
                    "job {name}: a bin is at {ns:?}, not at nanoseconds; let fio write it again"
                )
            })?;
            *bins.entry(ns).or_insert(0) += count;
        }
    }
    Ok(bins)
}

/// The least bin up to which this share of all requests are.
fn of_bins(bins: &BTreeMap<u64, u64>, share: f64) -> Option<f64> {
    let all: u64 = bins.values().sum();
    let needed = share * all as f64;
    let mut so_far = 0;
    bins.iter().find_map(|(ns, count)| {
        so_far += count;
        (so_far as f64 >= needed).then_some(*ns as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUS: &str = include_str!("../../tests/data/fio-3.33-json-plus.json");
    const PLAIN: &str = include_str!("../../tests/data/fio-3.33-json.json");

    /// A job of fio, of 1,000 reads of 4 KiB a second that take 1 ms each.
    fn job(changed: &str, options: &str) -> String {
        format!(
            r#"{{"fio version":"fio-3.33","jobs":[{{"jobname":"one","groupid":0,"error":0,"job options":{{{options}}},
            "read":{{"io_bytes":4096000,"total_ios":1000,"iops":1000,"lat_ns":{{"mean":1e6}},
            "clat_ns":{{"mean":1e6,"N":1000,"percentile":{{"99.000000":2000000}}}}{changed}}},"write":{{}}}}]}}"#
        )
    }

    #[test]
    fn percentiles_from_bins_are_those_that_fio_prints() {
        let output: Output = serde_json::from_str(PLUS).unwrap();
        let mut compared = 0;
        for job in &output.jobs {
            for of in [&job.read, &job.write] {
                let bins = bins(&[("", &of.clat_ns)]).unwrap();
                for (name, share) in PERCENTILES {
                    if let Some(printed) = of.clat_ns.percentile.get(name) {
                        assert_eq!(of_bins(&bins, share), Some(*printed), "{} {name}", job.jobname);
                        compared += 1;
                    }
                }
            }
        }
        assert_eq!(compared, 15);
    }

    #[test]
    fn jobs_that_ran_at_once_are_a_load_and_others_follow() {
        let [mixed, at_once] = &loads(PLUS).unwrap()[..] else { panic!() };
        assert_eq!((mixed.name.as_deref(), mixed.queue_depth), (Some("qd4"), Some(4)));
        assert_eq!(mixed.asked_per_second, None);
        assert_eq!(mixed.reads.p50_us, Some(66.048));
        assert!(mixed.writes.p99_9_us.is_some());
        // Two readers, two deep each, and a writer with a rate.
        assert_eq!(at_once.queue_depth, Some(5));
        assert_eq!(at_once.asked_per_second, None);
        let reads = at_once.reads_per_second.unwrap();
        assert!((reads - 40_893.5).abs() < 1.0, "{reads}");
        let p50 = at_once.reads.p50_us.unwrap();
        assert!((71.168..=79.36).contains(&p50), "{p50}");
        let mean = at_once.reads.mean_us.unwrap();
        assert!((mean - 87.376).abs() < 1e-3, "{mean}");
        assert!((at_once.writes_per_second - 499.5).abs() < 0.1);
        // Without bins it has the same percentiles.
        let plain = loads(PLAIN).unwrap();
        assert_eq!(plain.len(), 2);
        assert!(plain.iter().all(|load| load.reads.p99_9_us.is_some()));
    }

    #[test]
    fn a_load_has_a_rate_if_all_of_its_jobs_do() {
        for (options, asked) in [
            (r#""rw":"randread","iodepth":"2","rate_iops":"1000""#, Some(1000.0)),
            (r#""rw":"randread","rate_iops":"1500,10""#, Some(1500.0)),
            (r#""rw":"randread","rate_iops":"500","numjobs":"2""#, Some(1000.0)),
            (r#""rw":"randread""#, None),
        ] {
            let load = &loads(&job("", options)).unwrap()[0];
            assert_eq!(load.asked_per_second, asked, "{options}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_the_job_and_what_to_do() {
        let random = r#""rw":"randread""#;
        for (text, message) in [
            (
                job("", random).replace("4096000", "131072000"),
                "131072 bytes, and such of 4 KiB are simulated; use bs=4k",
            ),
            (job("", ""), "rw=read, and requests at random are simulated; leave it out"),
            (
                job("", r#""rw":"randread","random_distribution":"zipf:1.2""#),
                "zipf:1.2, and pages that are alike",
            ),
            (
                job("", r#""rw":"randread","iodepth":"32""#),
                "1.0 requests under way on average, and its options say 32",
            ),
            (
                job("", random).replace("1e6", "4e6"),
                "4.0 requests under way on average, and its options say 1; leave out group",
            ),
            (
                job("", r#""rw":"randread","iodepth":"many""#),
                "iodepth=many is not a number in 1..=65536",
            ),
            (job("", r#""rw":"randread","rate_iops":"1k""#), "rate_iops=1k is not a number"),
            (
                job("", random).replace("\"error\":0", "\"error\":5"),
                "ended with error 5; repeat it",
            ),
            (job("", random).replace("\"total_ios\":1000,", ""), "read and wrote nothing"),
            (r#"{"fio version":"fio-3.33","jobs":[]}"#.into(), "no job"),
            (r#"{"fio version":"fio-3.33","jobs":["#.into(), "no output of fio that is whole"),
            (
                PLUS.replace("\"bins\"", "\"other\""),
                "jobs readers and readers ran at once, and percentiles do not add up",
            ),
        ] {
            let error = loads(&text).unwrap_err();
            assert!(error.contains(message), "{message}: {error}");
        }
    }
}
