//! Every option and engine of fio, and what becomes of it: the one table of names.
//!
//! `tests/data/fio/options-*.txt` has the names that fio 3.33 and the newest fio know. The tests hold the table
//! against them, and against the fio that is installed.

use super::values::Fault;
use ftlab_spec::did_you_mean;

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fate {
    Used,
    /// It cannot change which pages are written.
    PassedOver,
    /// It can, and is not supported.
    Refused(&'static Refusal),
}

/// An option that is refused unless it has one of some values.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    /// With these it says nothing.
    harmless: &'static [&'static str],
    reason: &'static str,
    remedy: &'static str,
}

/// An option that fio knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Known {
    /// Its name, whatever it was called.
    pub(super) name: &'static str,
    /// Whether it needs no value.
    pub(super) is_switch: bool,
    pub(super) fate: Fate,
}

/// Options that say which pages are written, or when: `name=alias`, `?` after those that need no value.
const USED: &[&str] = &[
    // Where to.
    "filename directory filename_format file_service_type rw=readwrite rw_sequencer ioengine iodepth",
    // How much, and in what pieces.
    "size io_size=io_limit filesize offset=fileoffset offset_increment offset_align number_ios bs=blocksize \
     ba=blockalign bsrange=blocksize_range bssplit bs_is_seq_rand kb_base",
    // At random.
    "randrepeat allrandrepeat randseed norandommap? random_generator random_distribution percentage_random",
    // Mixes, flushes, course.
    "rwmixread rwmixwrite fsync fdatasync end_fsync end_syncfs fsync_on_close do_verify loops numjobs \
     stonewall?=wait_for_previous",
    // Time.
    "time_based? runtime=timeout startdelay rate rate_iops thinktime thinktime_blocks",
    // Replays and placement.
    "read_iolog replay_no_stall fdp dataplacement=data_placement plids=fdp_pli plid_select=fdp_pli_select",
];

/// Options that cannot matter here, whatever their value: how requests reach the drive, what is in them, what is
/// measured and printed, and what belongs to an option that is refused.
const PASSED_OVER: &[&str] = &[
    // What a job is called, and where it runs.
    "name description comm thread? new_group? group_reporting? nice prio prioclass priohint uid gid cgroup \
     cgroup_nodelete cgroup_weight cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy \
     exec_prerun exec_postrun ioscheduler clocksource gtod_reduce gtod_cpu job_start_clock_id",
    // Files and how they are opened.
    "filetype lockfile unique_filename openfiles fallocate fadvise_hint allow_file_create \
     allow_mounted_write create_serialize create_fsync create_on_open pre_read overwrite unlink invalidate",
    // How requests reach the drive.
    "direct buffered atomic sync sync_file_range write_barrier serialize_overlap io_submit_mode \
     iodepth_batch=iodepth_batch_submit iodepth_batch_complete_min=iodepth_batch_complete \
     iodepth_batch_complete_max iodepth_low softrandommap",
    // Memory and what is in it.
    "mem=iomem iomem_align=mem_align hugepage-size lockmem gpu_dev_id zero_buffers? refill_buffers? \
     scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk dedupe_percentage \
     dedupe_global dedupe_mode dedupe_working_set_percentage",
    // Time that is not simulated.
    "ramp_time ramp_size thinktime_spin thinkcycles rate_min=ratemin rate_iops_min rate_process \
     rate_cycle=ratecycle rate_ignore_thinktime max_latency latency_target latency_window latency_percentile \
     latency_run rwmixcycle flow_id flow_watermark flow_sleep",
    // What is measured and printed.
    "stats disk_util clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures \
     disable_lat disable_clat disable_slat disable_bw_measurement=disable_bw bwavgtime iopsavgtime \
     unified_rw_reporting unit_base block_error_percentiles steadystate=ss \
     steadystate_duration=ss_dur steadystate_ramp_time=ss_ramp steadystate_check_interval=ss_interval",
    // Logs.
    "write_iolog write_bw_log write_lat_log write_iops_log write_hist_log per_job_logs log_entries log_avg_msec \
     log_hist_msec log_hist_coarseness log_window_value=log_max_value log_offset log_prio log_issue_time \
     log_compression log_compression_cpus log_store_compressed log_alternate_epoch=log_unix_epoch \
     log_alternate_epoch_clock_id read_iolog_chunked",
    // Errors.
    "continue_on_error ignore_error error_dump exitall_on_error? exit_what",
    // Of verify, zonemode, sprandom, merge_blktrace_file, trim_backlog and of a distribution, which are refused.
    "verify_interval verify_offset verify_pattern_interval verify_fatal verify_dump verify_async \
     verify_async_cpus verify_backlog verify_backlog_batch verify_state_load verify_state_save \
     verify_write_sequence verify_header_seed verify_policy verifysort verifysort_nr experimental_verify \
     trim_verify_zero trim_backlog_batch read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits \
     zone_reset_threshold zone_reset_frequency recover_zbd_write_error write_zone_remainder spr_num_regions \
     spr_op spr_cs merge_blktrace_scalars merge_blktrace_iters random_sequence_stride",
    // Of engines: how they issue requests.
    "hipri? hipri_percentage readfua writefua fixedbufs? registerfiles? sqthread_poll? sqthread_poll_cpu \
     nonvectored uncached nowait force_async cmd_type cdb_len read_mode verify_mode verify_bytchk deac \
     md_per_io_size pi_act pi_chk apptag apptag_mask userspace_reap? libaio_vectored cmdprio \
     cmdprio_percentage cmdprio_class cmdprio_hint cmdprio_bssplit busy_poll thp no_completion_thread? \
     libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size \
     libblkio_pre_start_props libblkio_vectored? libblkio_wait_mode libblkio_force_enable_completion_eventfd? \
     xnvme_be xnvme_mem xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec? \
     gpu_dev_ids cuda_io rocm_io skip_bad direct_write_to_pmem busy_wait_polling",
    // Of engines: what they write to, and what they do instead of writing.
    "pool cont chunk_size=chunck_size object_class svcl volume brick single-instance single_instance https \
     http_host http_user http_pass http_s3_key http_s3_keyid http_s3_security_token http_swift_auth_token \
     http_s3_region http_s3_sse_customer_key http_s3_sse_customer_algorithm http_s3_storage_class http_mode \
     http_verbose http_object_mode namenode hostname port hdfsdirectory hdfs_use_direct initiator uri \
     protocol=proto nodelay listen? pingpong? interface ttl window_size mss nfs_url clustername clientname conf \
     touch_objects rbdname rbd_encryption_format rbd_encryption_passphrase bindname verb serverip donorname \
     inplace program arguments grace_time std_redirect stat_type cpuload cpumode cpuchunks exit_on_io_done",
];

/// Options that matter unless they have one of these values; why, and what to do instead.
const REFUSED: &[(&str, Refusal)] = &[
    (
        "bs_unaligned?=blocksize_unaligned",
        refusal(&["0"], "it makes requests that are no whole sectors", "leave it out"),
    ),
    ("create_only", refusal(&["0"], "it writes nothing but the files", "leave out the job")),
    ("dp_scheme", refusal(&[], "it takes placement identifiers from a file", "use --streams")),
    (
        "exitall?",
        refusal(&["0"], "when a job ends hangs on time", "give each job its size or io_size"),
    ),
    ("file_append", refusal(&["0"], "where a file ends is not known here", "give offset=")),
    (
        "fill_device=fill_fs",
        refusal(&["0"], "it writes until the drive is full", "write size=100% instead"),
    ),
    ("flow", refusal(&["0"], "it holds jobs back by each other", "divide the requests by iodepth")),
    (
        "libblkio_write_zeroes_on_trim?",
        refusal(&["0"], "its trims are writes of zeroes", "leave it out, or use rw=write"),
    ),
    (
        "merge_blktrace_file",
        refusal(&[], "it merges the logs of several devices", "name a log with read_iolog="),
    ),
    (
        "nrfiles=nr_files",
        refusal(&["1"], "several files for a job are not supported", "make it several jobs"),
    ),
    ("num_range", refusal(&["1"], "trims of several ranges are not supported", "leave it out")),
    ("opendir", refusal(&[], "which files there are is not known here", "name one with filename=")),
    (
        "percentage_sequential",
        refusal(&[], "fio does not take it any more", "write 100 less it as percentage_random="),
    ),
    ("profile", refusal(&[], "profiles of fio are programs", "write their jobs as sections")),
    ("replay_align", refusal(&["0"], "it moves the addresses of a log", "leave it out")),
    ("replay_redirect", refusal(&[], "it names a device", "name it with filename=")),
    ("replay_scale", refusal(&["1"], "it divides the addresses of a log", "leave it out")),
    ("replay_skip", refusal(&[], "it leaves out requests of a log", "leave it out")),
    ("replay_time_scale", refusal(&["100"], "it stretches the times of a log", "leave it out")),
    (
        "sg_write_mode",
        refusal(
            &["write", "write_and_verify"],
            "it sends other commands than writes",
            "leave it out",
        ),
    ),
    (
        "sprandom",
        refusal(&["0"], "its order of pages is not supported", "use --fill and norandommap"),
    ),
    (
        "stream_id",
        refusal(
            &["0"],
            "streams of SCSI are not known here",
            "use dataplacement=streams and plids=",
        ),
    ),
    (
        "thinktime_blocks_type",
        refusal(&["complete"], "it thinks by what is issued", "leave it out"),
    ),
    ("thinktime_iotime", refusal(&["0"], "it thinks by time", "use thinktime_blocks")),
    ("trim_backlog", refusal(&["0"], "its trims are not supported", "use rw=trimwrite")),
    ("trim_percentage", refusal(&["0"], "its trims are not supported", "use rw=trimwrite")),
    ("unlink_each_loop", refusal(&["0"], "it deletes the file after each loop", "leave it out")),
    ("verify", refusal(&["0", "none"], "it reads back, and draws sizes otherwise", "leave it out")),
    ("verify_only?", refusal(&["0"], "it writes nothing", "leave out the job")),
    ("verify_pattern", refusal(&[], "it turns verify on, which reads back", "use buffer_pattern=")),
    ("wait_for", refusal(&[], "jobs wait only for all jobs before them", "use stonewall")),
    (
        "write_hint",
        refusal(
            &["none", "not-set"],
            "hints are no streams",
            "use dataplacement=streams and plids=",
        ),
    ),
    ("write_mode", refusal(&["write"], "it sends other commands than writes", "leave it out")),
    ("zonecapacity", refusal(&["0"], ZONES, "leave it out")),
    ("zonemode", refusal(&["none"], ZONES, "leave it out")),
    ("zonerange", refusal(&["0"], ZONES, "leave it out")),
    ("zonesize", refusal(&["0"], ZONES, "leave it out")),
    ("zoneskip", refusal(&["0"], ZONES, "leave it out")),
];

const ZONES: &str = "zones of the drive are not supported";

const fn refusal(
    harmless: &'static [&'static str],
    reason: &'static str,
    remedy: &'static str,
) -> Refusal {
    Refusal { harmless, reason, remedy }
}

impl Refusal {
    /// Whether it says nothing with this value.
    pub(super) fn is_harmless(&self, value: Option<&str>) -> bool {
        value.is_some_and(|value| self.harmless.contains(&value))
    }

    /// Why the option is refused.
    pub(super) fn fault(&self, name: &str) -> Fault {
        Fault::new(format!("{name}: {}", self.reason), self.remedy)
    }
}

/// All entries of the table, with what becomes of each.
fn entries() -> impl Iterator<Item = (&'static str, Fate)> {
    let of = |texts: &'static [&'static str], fate| {
        texts.iter().flat_map(|text| text.split_whitespace()).map(move |entry| (entry, fate))
    };
    let refused = REFUSED.iter().map(|(entry, refusal)| (*entry, Fate::Refused(refusal)));
    of(USED, Fate::Used).chain(refused).chain(of(PASSED_OVER, Fate::PassedOver))
}

/// All names and aliases, with the options that they stand for.
pub(super) fn names() -> impl Iterator<Item = (&'static str, Known)> {
    entries().flat_map(|(entry, fate)| {
        let (name, alias) = entry.split_once('=').unwrap_or((entry, ""));
        let is_switch = name.ends_with('?');
        let name = name.trim_end_matches('?');
        let aliases = std::iter::once(alias).filter(|alias| !alias.is_empty());
        let known = Known { name, is_switch, fate };
        std::iter::once(name).chain(aliases).map(move |called| (called, known))
    })
}

/// The option that is called so.
pub(super) fn find(name: &str) -> Option<Known> {
    names().find(|(called, _)| *called == name).map(|(_, known)| known)
}

/// Why an option is refused that is not in the table.
pub(super) fn unknown(name: &str) -> Fault {
    let known: Vec<_> = names().map(|(called, _)| called).collect();
    let near = did_you_mean(name, &known);
    Fault::new(
        format!("{name} is no option that ftlab knows{near}, and may change what is written"),
        "leave it out if it does not (docs/fio.md lists those that are used)",
    )
}

/// Engines that wait for each request, so that no queue forms.
const SYNCHRONOUS: &str = "sync psync vsync pvsync pvsync2 mmap splice sg libpmem pmemblk dev-dax mtd gfapi http \
                           ime_psync ime_psyncv libcufile libhipfile libhdfs libiscsi libzbc";

/// Engines that complete requests some time after they took them; those of SPDK are loaded beside fio.
const QUEUED: &str = "libaio linuxaio aio io_uring io_uring_cmd posixaio solarisaio windowsaio null cpp_null \
                      rados rbd gfapi_async ime_aio nbd nfs dfs libblkio xnvme spdk spdk_bdev external";

/// Engines that write to something else than a drive, or do something else than write.
const ELSEWHERE: &str = "cpuio net netsplice rdma ftruncate filecreate filestat filedelete dircreate dirstat \
                         dirdelete exec falloc e4defrag page_fault librpma_apm_client librpma_apm_server \
                         librpma_gpspm_client librpma_gpspm_server";

fn is_of(engines: &str, name: &str) -> bool {
    engines.split_whitespace().any(|engine| engine == name)
}

/// Refuses engines that do not write to a drive, and what is no engine.
pub(super) fn check_engine(engine: &str) -> Result<(), Fault> {
    if is_of(ELSEWHERE, engine) {
        return Err(Fault::new(
            format!("ioengine={engine} does not write to a drive"),
            "leave out the job",
        ));
    }
    let is_library = engine.starts_with("external:") || engine.contains('/');
    if is_library || is_of(SYNCHRONOUS, engine) || is_of(QUEUED, engine) {
        return Ok(());
    }
    let known: Vec<_> = [SYNCHRONOUS, QUEUED].into_iter().flat_map(str::split_whitespace).collect();
    let near = did_you_mean(engine, &known);
    Err(Fault::new(
        format!("ioengine={engine} is no engine of fio{near}"),
        "name one of fio's, such as psync, libaio or io_uring, or another by external:PATH",
    ))
}

/// Whether an engine has no more than one request under way.
pub(super) fn is_synchronous(engine: &str) -> bool {
    is_of(SYNCHRONOUS, engine)
}

/// Whether an engine completes requests some time after it took them.
pub(super) fn queues(engine: &str, iodepth: u32) -> bool {
    !(is_synchronous(engine) || engine == "null" && iodepth == 1)
}

/// What the lists have of a kind: options and engines of jobs, or options of the command.
#[cfg(test)]
pub(super) fn listed(kind: &str) -> Vec<&'static str> {
    let lists = [
        include_str!("../tests/data/options-3.33.txt"),
        include_str!("../tests/data/options-3.42.txt"),
    ];
    let lines = lists.into_iter().flat_map(str::lines).filter_map(|line| line.split_once(' '));
    let mut names: Vec<_> = lines.filter(|(own, _)| *own == kind).map(|(_, name)| name).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() > 30, "{names:?}");
    names
}

/// What the installed fio says with each of these arguments; `None`, which is said, if there is none.
#[cfg(test)]
pub(super) fn installed(arguments: &[String]) -> Option<Vec<String>> {
    use std::process::{Command, Stdio};
    let start = |argument| {
        Command::new("fio").arg(argument).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()
    };
    let Some(started) = arguments.iter().map(start).collect::<Option<Vec<_>>>() else {
        eprintln!("skipped: fio is not installed, so its options are those of the lists alone");
        return None;
    };
    let said = |fio: std::process::Child| {
        String::from_utf8_lossy(&fio.wait_with_output().unwrap().stdout).into_owned()
    };
    Some(started.into_iter().map(said).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_has_what_fio_knows_and_nothing_else() {
        let mut of_lists = BTreeSet::new();
        for text in listed("option") {
            let name = text.trim_end_matches('?');
            let known = find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
            assert_eq!(known.is_switch, text.ends_with('?'), "{name}");
            of_lists.insert(name);
        }
        let of_table: Vec<_> = names().map(|(name, _)| name).collect();
        let distinct: BTreeSet<_> = of_table.iter().copied().collect();
        assert_eq!(distinct.len(), of_table.len(), "a name is there twice");
        assert_eq!(distinct, of_lists);
        for engine in listed("engine") {
            let said = check_engine(engine).map_or_else(|fault| fault.reason, |()| String::new());
            assert!(!said.contains("is no engine"), "{engine}");
        }
    }

    #[test]
    fn the_table_has_what_the_installed_fio_knows() {
        let lists = ["--cmdhelp=all", "--enghelp"].map(str::to_owned);
        let Some(said) = installed(&lists) else { return };
        let [help, engines] = said.as_slice() else { panic!("{said:?}") };
        let engines: Vec<_> = engines.lines().skip(1).map(str::trim).collect();
        let of_engine = |name: &&str| format!("--enghelp={name}");
        let of_engines = installed(&engines.iter().map(of_engine).collect::<Vec<_>>()).unwrap();
        let all = format!("{help}\n{}", of_engines.join("\n"));
        let of_line =
            |line: &'_ str| line.split_once(" : ").map(|(name, _)| name.trim().to_owned());
        let names: BTreeSet<_> = all.lines().filter_map(of_line).collect();
        assert!(names.len() > 200 && engines.len() > 5, "{names:?}, {engines:?}");
        for name in names {
            assert!(find(&name).is_some(), "{name} is not in the table");
        }
        for engine in engines {
            let said = check_engine(engine).map_or_else(|fault| fault.reason, |()| String::new());
            assert!(!said.contains("is no engine"), "{engine}");
        }
    }

    #[test]
    fn every_option_does_what_the_table_says() {
        for (name, known) in names() {
            let set = Options::default().set(name, Some("1"));
            match known.fate {
                // A 1 may be wrong, but it is looked at.
                Fate::Used => {
                    let reason = set.map_or_else(|fault| fault.reason, |fate| format!("{fate:?}"));
                    assert!(!reason.contains("no option"), "{name}: {reason}");
                }
                Fate::PassedOver => assert_eq!(set, Ok(Fate::PassedOver), "{name}"),
                Fate::Refused(refusal) if refusal.is_harmless(Some("1")) => {
                    assert_eq!(set, Ok(Fate::PassedOver), "{name}");
                }
                Fate::Refused(refusal) => assert_eq!(set, Err(refusal.fault(name))),
            }
        }
    }

    #[test]
    fn what_is_unknown_is_refused_with_what_is_like_it() {
        let fault = Options::default().set("ioengien", Some("sync")).unwrap_err();
        assert!(fault.reason.contains("(did you mean \"ioengine\""), "{}", fault.reason);
        let fault = check_engine("libaoi").unwrap_err();
        assert!(fault.reason.contains("(did you mean \"libaio\""), "{}", fault.reason);
        for engine in ["external:/opt/engine.so", "aio", "io_uring_cmd"] {
            assert_eq!(check_engine(engine), Ok(()), "{engine}");
        }
        assert!(check_engine("cpuio").unwrap_err().reason.contains("does not write to a drive"));
    }
}
