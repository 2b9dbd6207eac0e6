//! What a map on flash, or by units, cost.

use crate::fact::facts;
use ftlab_stack::Tally;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

facts! {
    Run:
    /// What looking up pages cost where the map is on flash, or by units.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct MapResult {
        /// Memory for entries.
        cache_bytes: u64 = Count, "bytes", from "--mapping" [frame(411, "map_cache_bytes")];
        /// All translation pages, which have 4 bytes of each entry: what is on flash, not what entries take in memory.
        map_bytes: u64 = Count, "bytes", from "the FTL" [frame(412, "map_bytes")];
        /// Pages to write or to trim that were looked up.
        write_lookups: u64 = Count, "pages", from "the FTL" [frame(413, "map_write_lookups")];
        /// Of these, those whose entry was in memory.
        write_hits: u64 = Count, "pages", from "the FTL" [frame(414, "map_write_hits")];
        /// The share of these.
        write_hit_share: f64 = Ratio(4), "", from "the FTL" [
            table(Map, 10, "hits of\nwrites", Always),
            report(Runs, 160, "map hits", "Share of pages to write whose entry of the map was in memory", Known),
            sweep(610, "map-hits", "share of pages to write whose entry of the map was in memory"),
            frame(415, "map_write_hit_share"),
        ];
        /// Translation pages read to look up a page.
        loads: u64 = Count, "pages", from "the FTL" [frame(416, "map_loads")];
        /// Translation pages read to change a part of them.
        update_reads: u64 = Count, "pages", from "the FTL" [frame(417, "map_update_reads")];
        /// Translation pages read from flash.
        reads: u64 = Count, "pages", from "the FTL" [
            table(Map, 20, "translation\npages read", Always),
            report(Runs, 162, "map reads", "Translation pages read", Known),
            sweep(620, "map-reads", "translation pages read"),
            frame(418, "map_reads"),
        ];
        /// Translation pages read from memory of the host instead of flash. Results of earlier versions do not tell it.
        @ #[serde(default)] #[schemars(!default)]
        host_reads: u64 = Count, "pages", from "the FTL" [
            table(Map, 22, "from the\nhost", Nonzero),
            report(Runs, 163, "map reads from the host", "Translation pages read from memory of the host", Nonzero),
            sweep(622, "map-host-reads", "translation pages read from memory of the host"),
            frame(434, "map_host_reads"),
        ];
        /// Translation pages written because changed entries had to leave memory.
        write_backs: u64 = Count, "pages", from "the FTL" [frame(419, "map_write_backs")];
        /// Translation pages written because collection had moved pages.
        move_updates: u64 = Count, "pages", from "the FTL" [frame(420, "map_move_updates")];
        /// Translation pages written.
        writes: u64 = Count, "pages", from "the FTL" [
            table(Map, 30, "\nwritten", Always),
            report(Runs, 164, "map writes", "Translation pages written", Known),
            sweep(630, "map-writes", "translation pages written"),
            frame(421, "map_writes"),
        ];
        /// Of the relocations, translation pages.
        relocations: u64 = Count, "pages", from "the FTL" [
            table(Map, 40, "\nmoved", Always),
            report(Runs, 166, "map pages moved", "Of the relocations, translation pages", Known),
            sweep(640, "map-relocations", "translation pages that collection moved"),
            frame(422, "map_relocations"),
        ];
        /// Pages that collection moved and whose new place was noted in memory only.
        lazy_updates: u64 = Count, "pages", from "the FTL" [frame(423, "map_lazy_updates")];
        /// Relocations of pages of the host per page that it wrote: with the two that follow, that of
        /// units and 1, this is write amplification.
        data_relocations_per_write: f64 = Ratio(5), "", from "the FTL" [
            table(Map, 50, "per host write:\ndata moved", Always),
            sweep(650, "waf-data", "relocations of pages of the host per host write"),
            frame(424, "map_data_relocations_per_write"),
        ];
        /// Translation pages written per page that the host wrote.
        writes_per_write: f64 = Ratio(5), "", from "the FTL" [
            table(Map, 60, "translation\nwritten", Always),
            sweep(660, "waf-map-writes", "translation pages written per host write"),
            frame(425, "map_writes_per_write"),
        ];
        /// Relocations of translation pages per page that the host wrote.
        relocations_per_write: f64 = Ratio(5), "", from "the FTL" [
            table(Map, 70, "translation\nmoved", Always),
            sweep(670, "waf-map-relocations", "relocations of translation pages per host write"),
            frame(426, "map_relocations_per_write"),
        ];
        /// Pages read of units that the host wrote in part. Results of earlier versions do not tell it, nor what follows.
        @ #[serde(default)] #[schemars(!default)]
        rewrite_reads: u64 = Count, "pages", from "the FTL" [
            report(Runs, 168, "unit reads", "Pages read of units that the host wrote in part", Nonzero),
            sweep(680, "unit-reads", "pages read of units that the host wrote in part"),
            frame(427, "rewrite_reads"),
        ];
        /// Pages programmed with those that the host wrote, since they are of the same unit.
        @ #[serde(default)] #[schemars(!default)]
        rewrites: u64 = Count, "pages", from "the FTL" [frame(428, "rewrites")];
        /// Pages that the host trimmed in vain, since it did not trim all of their unit.
        @ #[serde(default)] #[schemars(!default)]
        kept_trims: u64 = Count, "pages", from "the FTL" [
            report(Runs, 169, "trims in vain", "Pages that were trimmed without all of their unit", Nonzero),
            sweep(690, "kept-trims", "pages that were trimmed without all of their unit"),
            frame(429, "kept_trims"),
        ];
        /// Pages programmed with those that the host wrote, per page that it wrote: another part of write amplification.
        @ #[serde(default)] #[schemars(!default)]
        rewrites_per_write: f64 = Ratio(5), "", from "the FTL" [
            table(Map, 80, "units\nrewritten", Nonzero),
            sweep(700, "waf-units", "pages programmed with others of their unit per host write"),
            frame(430, "rewrites_per_write"),
        ];
        /// Pages to read that were looked up. Only where time is simulated are reads of the host carried out.
        @ #[serde(default)] #[schemars(!default)]
        read_lookups: u64 = Count, "pages", from "the FTL" [frame(431, "map_read_lookups")];
        /// Of these, those whose entry was in memory; the others cost two reads or more.
        @ #[serde(default)] #[schemars(!default)]
        read_hits: u64 = Count, "pages", from "the FTL" [frame(432, "map_read_hits")];
        /// The share of these.
        @ #[serde(default)] #[schemars(!default)]
        read_hit_share: f64 = Ratio(4), "", from "the FTL" [
            table(Map, 12, "hits of\nreads", Nonzero),
            report(Runs, 161, "map hits of reads", "Share of pages to read whose entry of the map was in memory", Nonzero),
            sweep(612, "map-read-hits", "share of pages to read whose entry of the map was in memory"),
            frame(433, "map_read_hit_share"),
        ];
        /// Pages to read that had to wait for their translation page to be read from flash, and for what that takes.
        @ #[serde(default)] #[schemars(!default)]
        double_reads: u64 = Count, "pages", from "the FTL" [
            report(Runs, 165, "double reads", "Pages to read whose translation page was read from flash before", Nonzero),
            sweep(614, "double-reads", "pages to read whose translation page was read from flash before"),
            frame(442, "map_double_reads"),
        ];
        /// The share of these in the pages to read that were looked up.
        @ #[serde(default)] #[schemars(!default)]
        double_read_share: f64 = Ratio(5), "", from "the FTL" [
            sweep(615, "double-read-share", "share of pages to read whose translation page was read from flash before"),
            frame(443, "map_double_read_share"),
        ];
        /// Pages to read whose place a model told, and whose entry was not in memory.
        @ #[serde(default)] #[schemars(!default)]
        told: u64 = Count, "pages", from "the FTL" [
            report(Runs, 167, "told by models", "Pages to read whose place a model told", Nonzero),
            frame(444, "map_told"),
        ];
        /// The share of these in the pages to read that were looked up.
        @ #[serde(default)] #[schemars(!default)]
        told_share: f64 = Ratio(5), "", from "the FTL" [
            table(Map, 13, "told by\nmodels", Nonzero),
            sweep(616, "told-share", "share of pages to read whose place a model told"),
            frame(445, "map_told_share"),
        ];
        /// Pages read in vain since a learned map said that another page is there.
        @ #[serde(default)] #[schemars(!default)]
        mispredicted: u64 = Count, "pages", from "the FTL" [
            table(Map, 45, "pages read\nin vain", Nonzero),
            report(Runs, 170, "mispredicted", "Pages read in vain since a learned map said that another page is there", Nonzero),
            sweep(710, "mispredicted", "pages read in vain since a learned map said that another page is there"),
            frame(435, "map_mispredicted"),
        ];
        /// The share of these in the pages that were looked up.
        @ #[serde(default)] #[schemars(!default)]
        mispredicted_share: f64 = Ratio(4), "", from "the FTL" [
            sweep(712, "mispredicted-share", "pages read in vain since a learned map said otherwise, per page looked up"),
            frame(440, "map_mispredicted_share"),
        ];
        /// Segments of a learned map at the end.
        @ #[serde(default)] #[schemars(!default)]
        segments: u64 = Count, "segments", from "the FTL" [
            report(Runs, 171, "segments", "Segments of a learned map", Nonzero),
            frame(436, "map_segments"),
        ];
        /// Bytes of these, with the pages that are listed beside.
        @ #[serde(default)] #[schemars(!default)]
        segment_bytes: u64 = Count, "bytes", from "the FTL" [
            table(Map, 14, "bytes of\nsegments", Nonzero),
            sweep(720, "segment-bytes", "bytes of a learned map"),
            frame(437, "map_segment_bytes"),
        ];
        /// Pages of the host, or units, of which they tell the place.
        @ #[serde(default)] #[schemars(!default)]
        learned_pages: u64 = Count, "pages", from "the FTL" [frame(438, "map_learned_pages")];
        /// How much smaller they are than eight bytes for each of these.
        @ #[serde(default)] #[schemars(!default)]
        times_smaller: f64 = Ratio(1), "", from "the FTL" [
            sweep(725, "times-smaller", "eight bytes for each page that a learned map knows, over its bytes"),
            frame(441, "map_times_smaller"),
        ];
        /// Pages, or units, per segment.
        @ #[serde(default)] #[schemars(!default)]
        pages_per_segment: f64 = Ratio(1), "", from "the FTL" [
            table(Map, 16, "pages per\nsegment", Nonzero),
            sweep(730, "pages-per-segment", "pages per segment of a learned map"),
            frame(439, "map_pages_per_segment"),
        ];
    }
}

impl MapResult {
    /// That of a tally, a map of `map_bytes` bytes, and memory for a part of it.
    pub(crate) fn new(tally: &Tally, cache_bytes: u64, map_bytes: u64) -> Self {
        let map = &tally.map;
        let per_write = |pages: u64| pages as f64 / tally.host_pages.max(1) as f64;
        Self {
            cache_bytes,
            map_bytes,
            write_lookups: map.write_lookups,
            write_hits: map.write_hits,
            write_hit_share: map.write_hits as f64 / map.write_lookups.max(1) as f64,
            read_lookups: map.read_lookups,
            read_hits: map.read_hits,
            read_hit_share: map.read_hits as f64 / map.read_lookups.max(1) as f64,
            loads: map.loads,
            update_reads: map.update_reads,
            host_reads: map.host_reads,
            reads: map.reads(),
            write_backs: map.write_backs,
            move_updates: map.move_updates,
            writes: map.writes(),
            relocations: map.relocations,
            lazy_updates: map.lazy_updates,
            data_relocations_per_write: per_write(tally.counters.relocations() - map.relocations),
            writes_per_write: per_write(map.writes()),
            relocations_per_write: per_write(map.relocations),
            rewrite_reads: map.rewrite_reads,
            rewrites: map.rewrites,
            kept_trims: map.kept_trims,
            rewrites_per_write: per_write(map.rewrites),
            double_reads: map.double_reads,
            double_read_share: map.double_reads as f64 / map.read_lookups.max(1) as f64,
            told: map.told,
            told_share: map.told as f64 / map.read_lookups.max(1) as f64,
            mispredicted: map.mispredicted,
            mispredicted_share: map.mispredicted as f64
                / (map.read_lookups + map.write_lookups).max(1) as f64,
            segments: map.segments,
            segment_bytes: map.segment_bytes,
            learned_pages: map.learned,
            times_smaller: 8.0 * map.learned as f64 / map.segment_bytes.max(1) as f64,
            pages_per_segment: map.learned as f64 / map.segments.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::result::RunResult;
    use crate::{DriveOptions, Experiment, Length, Logical, Workload};
    use ftlab_ftl::map::Mapping;
    use ftlab_trace::{Contents, OpenOptions};

    fn experiment(ftl: &str, mapping: &str) -> Experiment {
        let drive = DriveOptions {
            logical: Logical::Pages(4096),
            page_bytes: 512,
            pages_per_block: Some(16),
            reserve_blocks: 6,
            mapping: mapping.parse().unwrap(),
            ..DriveOptions::default()
        };
        let workload = Workload::parse("hotcold", OpenOptions::default()).unwrap();
        let ftls = vec![ftl.parse().unwrap()];
        Experiment { drive, length: Length::DriveWrites(3.0), ..Experiment::new(workload, ftls) }
    }

    fn run(ftl: &str, mapping: &str) -> RunResult {
        experiment(ftl, mapping).run(&mut ()).unwrap().runs.remove(0)
    }

    #[test]
    fn write_amplification_is_the_sum_of_its_parts() {
        for ftl in ["1r-greedy", "2r++", "sep-gc/cost-benefit"] {
            let of = run(ftl, "dftl:cache=4KiB");
            let map = of.map.unwrap();
            let parts =
                [map.data_relocations_per_write, map.writes_per_write, map.relocations_per_write];
            assert!((1.0 + parts.iter().sum::<f64>() - of.waf).abs() < 1e-9, "{ftl}");
            assert!(parts.iter().all(|part| *part > 0.0), "{ftl}: {parts:?}");
            assert_eq!(of.programs_by_cause.unwrap().map, map.writes, "{ftl}");
            assert_eq!((map.cache_bytes, map.map_bytes), (4096, 4096 * 4), "{ftl}");
            assert_eq!(map.write_lookups, of.host_writes, "{ftl}");
            assert_eq!(map.reads, map.loads + map.update_reads, "{ftl}");
        }
    }

    #[test]
    fn what_memory_of_the_host_holds_is_not_read_from_flash() {
        for mapping in ["dftl:cache=4KiB", "tpftl:cache=4KiB"] {
            let of = |rest: &str| run("2r++", &format!("{mapping}{rest}")).map.unwrap();
            let [none, some, all] = ["", ",hmb=8KiB", ",hmb=1MiB"].map(of);
            assert_eq!(none.host_reads, 0, "{mapping}");
            for with in [&some, &all] {
                assert_eq!(with.reads + with.host_reads, none.reads, "{mapping}");
                assert_eq!((with.writes, with.write_hits), (none.writes, none.write_hits));
            }
            assert!(some.reads < none.reads && all.reads == 0, "{mapping}: {some:?}");
        }
    }

    #[test]
    fn a_learned_map_says_how_small_it_is_and_how_often_it_is_wrong() {
        let map = run("2r++", "leaftl:cache=4KiB,gamma=4,buffer=256").map.unwrap();
        let [pages, segments, bytes] =
            [map.learned_pages, map.segments, map.segment_bytes].map(|of| of as f64);
        assert_eq!(map.learned_pages, 4096, "the fill");
        assert_eq!(
            (map.times_smaller, map.pages_per_segment),
            (8.0 * pages / bytes, pages / segments)
        );
        assert!(map.times_smaller > 1.0 && bytes >= 8.0 * segments, "{map:?}");
        let share = map.mispredicted as f64 / map.write_lookups as f64;
        assert_eq!(map.mispredicted_share.to_bits(), share.to_bits());
        assert!((0.001..0.999).contains(&map.mispredicted_share), "{map:?}");
        let exact = run("2r++", "leaftl:cache=4KiB,buffer=256").map.unwrap();
        assert_eq!((exact.mispredicted, exact.segment_bytes), (0, 8 * exact.segments));
    }

    #[test]
    fn the_last_tenth_of_a_map_that_lets_pages_wait_is_as_the_rest() {
        // A tenth is a third of what waits; on average every page is programmed once at least.
        for writes in (12_000..14_000).step_by(250) {
            let mut experiment = experiment("2r++", "leaftl:cache=4KiB,buffer=4096");
            experiment.length = Length::Writes(writes);
            let of = experiment.run(&mut ()).unwrap().runs.remove(0);
            assert!(of.waf_last_tenth >= 1.0, "{writes}: {}", of.waf_last_tenth);
            assert!(
                of.waf_last_tenth < 2.0 * of.waf,
                "{writes}: {}, {}",
                of.waf_last_tenth,
                of.waf
            );
        }
    }

    #[test]
    fn pages_that_wait_when_counting_begins_count_when_they_leave() {
        for warmup_writes in [1_000, 3_000, 4_095] {
            let mut experiment = experiment("2r++", "leaftl:cache=4KiB,buffer=4096");
            experiment.length = Length::Writes(16_000);
            experiment.warmup_writes = warmup_writes;
            experiment.interval_writes = Some(500);
            let of = experiment.run(&mut ()).unwrap().runs.remove(0);
            // In most intervals none leaves, and nothing is programmed.
            let programs: f64 = of.running_waf.iter().filter(|waf| **waf > 0.0).sum();
            assert!(programs > 0.0, "{warmup_writes}");
            let most = of.running_waf.iter().copied().fold(0.0, f64::max);
            assert!(most < 3.0 * of.waf, "{warmup_writes}: {most}, {}", of.waf);
            assert!(of.waf_last_tenth >= 1.0, "{warmup_writes}: {}", of.waf_last_tenth);
        }
    }

    #[test]
    fn what_units_rewrite_is_a_part_of_write_amplification() {
        for mapping in ["iu:size=2KiB", "dftl:cache=4KiB,unit=2KiB"] {
            let of = run("2r++", mapping);
            let map = of.map.unwrap();
            let parts = [
                map.data_relocations_per_write,
                map.writes_per_write,
                map.relocations_per_write,
                map.rewrites_per_write,
            ];
            assert!((1.0 + parts.iter().sum::<f64>() - of.waf).abs() < 1e-9, "{mapping}");
            // Every write is one page of four; the fill in order has left none of them empty.
            assert_eq!([map.rewrites, map.rewrite_reads], [3 * of.host_writes; 2], "{mapping}");
            let programs = of.programs_by_cause.unwrap();
            assert_eq!([programs.host, programs.rewrites], [of.host_writes, map.rewrites]);
            let is_on_flash = mapping.starts_with("dftl");
            assert_eq!(map.map_bytes > 0 && map.writes > 0, is_on_flash, "{mapping}");
            assert_eq!(map.cache_bytes, 4096, "{mapping}: or 1,024 units of 4 bytes");
        }
    }

    #[test]
    fn requests_of_whole_units_rewrite_nothing_and_move_what_pages_of_that_size_do() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("units.csv");
        let lines = (0..40_000_u32).map(|number| {
            let unit = number.wrapping_mul(2_654_435_761) >> 20;
            format!("w,{},2048\n", 2048 * unit)
        });
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        let of = |page_bytes: u32, mapping: &str| {
            let map = Some("op=1,off:bytes=2,len:bytes=3".into());
            let options = OpenOptions { map, page_bytes, ..OpenOptions::default() };
            let workload = Workload::parse(path.to_str().unwrap(), options).unwrap();
            let drive = DriveOptions {
                logical: Logical::Bytes("8MiB".parse().unwrap()),
                page_bytes,
                pages_per_block: Some(64 * 512 / page_bytes),
                reserve_blocks: 6,
                mapping: mapping.parse().unwrap(),
                ..DriveOptions::default()
            };
            let ftls = vec!["1r-greedy".parse().unwrap()];
            let experiment = Experiment { drive, ..Experiment::new(workload, ftls) };
            experiment.run(&mut ()).unwrap().runs.remove(0)
        };
        let (pages, units) = (of(2048, "full"), of(512, "iu:size=2KiB"));
        let map = units.map.unwrap();
        assert_eq!([map.rewrites, map.rewrite_reads], [0, 0]);
        assert_eq!((units.relocations, units.erases), (4 * pages.relocations, pages.erases));
        assert!(pages.relocations > 0);
    }

    #[test]
    fn memory_for_the_whole_map_gives_the_counts_of_a_map_in_memory() {
        let [full, cached] = ["full", "dftl:cache=1MiB"].map(|mapping| run("2r++", mapping));
        assert_eq!(cached.map.unwrap().writes, 0);
        assert_eq!((full.relocations, full.erases), (cached.relocations, cached.erases));
        assert!(full.map.is_none());
    }

    #[test]
    fn every_ftl_runs_with_every_map_as_it_would_alone() {
        let mut crossed = experiment("1r-greedy", "full,dftl:cache=4KiB,dftl:cache=8KiB");
        crossed.ftls.push("2r++".parse().unwrap());
        let result = crossed.run(&mut ()).unwrap();
        assert_eq!(result.config.ftls.len(), 6);
        let mut runs = result.runs.iter();
        for ftl in ["1r-greedy", "2r++"] {
            for mapping in ["full", "dftl:cache=4KiB", "dftl:cache=8KiB"] {
                let (one, alone) = (runs.next().unwrap(), run(ftl, mapping));
                assert_eq!(one.ftl, format!("{ftl} with {mapping}"));
                assert_eq!(one.mapping, mapping.parse().map(|of: Mapping| of.to_string()).ok());
                assert_eq!((&alone.ftl[..], alone.mapping), (ftl, None));
                assert_eq!(one.config_hash, alone.config_hash, "{ftl}, {mapping}");
                assert_eq!((one.relocations, one.erases), (alone.relocations, alone.erases));
                assert_eq!(one.map, alone.map);
            }
        }
    }

    #[test]
    fn several_maps_are_refused_where_one_result_of_each_ftl_is_kept() {
        let experiment = experiment("2r++", "full,dftl:cache=4KiB");
        let identity = experiment.workload.identity(512, &Contents::new()).unwrap();
        let error = experiment.identity(&identity).unwrap_err().to_string();
        assert!(error.contains("one result of each FTL is kept here"), "{error}");
    }

    #[test]
    fn what_a_map_on_flash_does_not_go_with_is_refused() {
        type Change = fn(&mut Experiment);
        let error = |change: Change| {
            let mut experiment = experiment("2r++", "dftl:cache=4KiB");
            change(&mut experiment);
            experiment.run(&mut ()).unwrap_err().to_string()
        };
        let in_units: Change = |of| {
            of.drive.mapping = "iu:size=2KiB".parse().unwrap();
            of.faults = Some("program=0.001".parse().unwrap());
        };
        let told: Change = |of| {
            of.drive.mapping = "iu:size=2KiB".parse().unwrap();
            of.ftls = vec!["oracle-rate".parse().unwrap()];
        };
        let in_time: Change = |of| {
            of.drive.mapping = "iu:size=2KiB".parse().unwrap();
            of.timing = Some("slc".parse().unwrap());
        };
        let buffered: Change = |of| {
            of.drive.mapping = "iu:size=2KiB".parse().unwrap();
            of.timing = Some("slc:unit=request,write-buffer=1MiB".parse().unwrap());
        };
        let twice: Change = |of| {
            of.drive.mapping = "leaftl:cache=4KiB".parse().unwrap();
            of.timing = Some("slc:unit=request,write-buffer=1MiB".parse().unwrap());
        };
        let refused: [(Change, &str); 10] = [
            (twice, "leave out write-buffer, or add buffer=1 to --mapping"),
            (|of| of.ftls = vec!["fast".parse().unwrap()], "fast maps blocks and a log"),
            (|of| of.ftls = vec!["nvme-fdp/greedy".parse().unwrap()], "leave out nvme-fdp"),
            (in_time, "add unit=request to --timing"),
            (buffered, "leave out write-buffer, or units"),
            (|of| of.drive.slc_cache = Some("size=1MiB".parse().unwrap()), "leave out --slc-cache"),
            (
                |of| of.drive.mapping = "iu:size=3KiB".parse().unwrap(),
                "which divide blocks of 16 pages",
            ),
            (in_units, "leave out --faults, or units"),
            (told, "how long units live, as oracle-rate is told of pages, is not known"),
            (|of| of.drive.page_bytes = 8192, "at least one translation page of 8192 bytes"),
        ];
        for (change, part) in refused {
            let error = error(change);
            assert!(error.contains(part), "{error}");
        }
    }
}
