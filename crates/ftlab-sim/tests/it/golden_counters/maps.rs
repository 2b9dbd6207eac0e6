//! Every map over the small trace, to the last translation page.

use super::{data, experiment, is_asked_to_write};
use std::fmt::Write;

const TABLE: &str = include_str!("../../data/golden_maps.txt");

/// Every kind of map, as it is by default and otherwise.
const MAPS: [&str; 17] = [
    "dftl:cache=8KiB",
    "dftl:cache=8KiB,protected=0",
    "cdftl:cache=8KiB",
    "s-ftl:cache=8KiB",
    "tpftl:cache=8KiB",
    "tpftl:cache=8KiB,order=last",
    "leaftl:cache=8KiB",
    "leaftl:cache=8KiB,gamma=4,buffer=64,compaction=1000",
    "leaftl:cache=32KiB,gamma=1,buffer=16,greedy=on,hmb=16KiB,unit=16KiB",
    "learnedftl:cache=8KiB",
    "learnedftl:cache=8KiB,pieces=2,order=last,node-bytes=0",
    "learnedftl:cache=32KiB,entry-bytes=64,hmb=16KiB,unit=16KiB",
    "iu:size=16KiB",
    "dftl:cache=8KiB,hmb=16KiB",
    "s-ftl:cache=8KiB,hmb=8KiB",
    "dftl:cache=16KiB,entry-bytes=64,unit=16KiB",
    "tpftl:cache=16KiB,entry-bytes=64,unit=16KiB",
];

#[test]
fn every_map_counts_exactly_what_the_table_says() {
    let ftls = ["1r-greedy", "2r++", "address-groups"].map(|name| name.parse().unwrap()).to_vec();
    let mut experiment = experiment(ftls);
    experiment.drive.mapping = MAPS.join(",").parse().unwrap();
    let result = experiment.run(&mut ()).unwrap();
    let mut found = String::from(
        "# FTL and map: relocations erases trims; write_lookups write_hits; loads update_reads write_backs move_updates \
         lazy_updates relocations; rewrite_reads rewrites kept_trims[; host_reads]\
         [; mispredicted segments segment_bytes learned_pages]\n",
    );
    for run in &result.runs {
        let of = run.map.as_ref().unwrap();
        let _ = write!(found, "{}: {} {} {}; ", run.ftl, run.relocations, run.erases, run.trims);
        let _ = write!(found, "{} {}; ", of.write_lookups, of.write_hits);
        let pages = [of.loads, of.update_reads, of.write_backs, of.move_updates, of.lazy_updates];
        let pages = pages.map(|pages| pages.to_string()).join(" ");
        let _ = write!(found, "{pages} {}; ", of.relocations);
        let _ = write!(found, "{} {} {}", of.rewrite_reads, of.rewrites, of.kept_trims);
        let host_reads = Some(of.host_reads).filter(|pages| *pages > 0);
        let _ = write!(found, "{}", host_reads.map_or(String::new(), |pages| format!("; {pages}")));
        if of.segments > 0 {
            let learned = [of.segments, of.segment_bytes, of.learned_pages];
            let [segments, bytes, pages] = learned;
            let _ = write!(found, "; {} {segments} {bytes} {pages}", of.mispredicted);
        }
        found.push('\n');
    }
    if is_asked_to_write() {
        std::fs::write(data("golden_maps.txt"), &found).unwrap();
        return;
    }
    assert_eq!(found, TABLE, "a changed number is a decision: `make golden` writes the table");
}
