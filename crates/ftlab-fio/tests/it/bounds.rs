//! Whatever jobs say, requests stay within the drive.

use ftlab_fio::{JobFile, OpenReplay};
use ftlab_trace::Space;
use ftlab_trace::{ClosedLoop, RequestBatch, Turn};
use proptest::prelude::*;

/// Options that are right, most of them, or odd.
fn option() -> impl Strategy<Value = String> {
    let right = prop::sample::select(vec![
        "rw=write",
        "rw=randrw",
        "rw=trim",
        "rw=randtrimwrite",
        "rw=trimwrite",
        "rw=rw:4k",
        "rw=write:-8k",
        "rw=randwrite:3",
        "rw_sequencer=identical",
        "bs=512",
        "bs=16k,4k",
        "bs=1m",
        "bsrange=512-3k",
        "bssplit=4k/50:8k",
        "bssplit=64k/10:4k/,16k",
        "blockalign=512",
        "size=1m",
        "size=50%",
        "size=10m",
        "filesize=3m",
        "io_size=100m",
        "io_size=7%",
        "offset=33%",
        "offset=5k",
        "offset_increment=100k",
        "offset_align=3k",
        "number_ios=10",
        "loops=3",
        "numjobs=3",
        "norandommap",
        "random_generator=lfsr",
        "random_generator=tausworthe64",
        "random_distribution=zipf:0.5:0.1",
        "random_distribution=pareto:0.2",
        "random_distribution=normal:90:0.01",
        "random_distribution=zoned:50/5:30/15:20/",
        "random_distribution=zoned_abs:60/1m:40/3m",
        "randrepeat=0",
        "allrandrepeat=1",
        "percentage_random=40",
        "rwmixread=90",
        "fsync=2",
        "time_based",
        "runtime=1",
        "stonewall",
        "iodepth=7",
        "ioengine=libaio",
        "fdp=1",
        "plids=1-3",
        "plid_select=random",
        "filename=a",
        "kb_base=1000",
        "bs_is_seq_rand=1",
        "rate_iops=100",
        "thinktime=3ms",
        "startdelay=1",
    ]);
    let names = "(size|bs|offset|io_size|loops|numjobs|iodepth|randseed|number_ios|rate|bsrange|bssplit|rw)";
    let odd = format!("{names}=([0-9]{{1,20}}[kmgtp%]?|\\PC{{0,12}})");
    let odd = proptest::string::string_regex(&odd).unwrap();
    prop_oneof![9 => right.prop_map(str::to_owned), 1 => odd].prop_map(|option| option + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_jobs_say_they_write_within_the_drive_or_are_refused(
        global in prop::collection::vec(option(), 0..4),
        first in prop::collection::vec(option(), 0..8),
        second in prop::collection::vec(option(), 0..4),
    ) {
        let [global, first, second] = [global, first, second].map(|options| options.concat());
        let text = format!("[global]\n{global}[a]\nrw=randwrite\n{first}[b]\nrw=rw\n{second}");
        let space = Space { logical_pages: 1 << 12, page_bytes: 4096, seed: 1 };
        let Ok(jobs) = JobFile::parse(&text, "text") else { return Ok(()) };
        let mut batch = RequestBatch::with_limit(300);
        if let Ok(mut requests) = jobs.requests(&space) {
            for _ in 0..4 {
                batch.clear();
                requests.fill(&mut batch).ok();
                prop_assert!(batch.iter().all(|(_, lba, sectors)| lba + u64::from(sectors) <= 8 << 12));
            }
        }
        let open: OpenReplay = |name, _| unreachable!("no option names {name}");
        if let Ok(mut hosts) = jobs.hosts(&space, open, true) {
            let mut time = 0;
            for _ in 0..100 {
                batch.clear();
                let Ok(Turn::Issue(_)) = hosts.turn() else { break };
                let Some(next) = hosts.issue(&mut batch) else { break };
                prop_assert!(next.time_ns >= time, "{} after {}", next.time_ns, time);
                time = next.time_ns;
                hosts.complete(next.host, time + 1000);
            }
        }
    }
}
