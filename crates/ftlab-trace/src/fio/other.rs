//! Options that cannot change which pages are written, and options that could and are not supported.

use super::values::Fault;

/// Jobs that a file has at most; fio's own limit.
pub(super) const JOBS_MAX: u64 = 4096;

/// Options that cannot matter here, whatever their value: how requests reach the drive, what is in them,
/// what is measured and printed.
const HARMLESS: &[&str] = &[
    "allow_file_create",
    "allow_mounted_write",
    "atomic",
    "block_error_percentiles",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffer_pattern",
    "buffered",
    "bwavgtime",
    "cgroup",
    "cgroup_nodelete",
    "cgroup_weight",
    "clat_percentiles",
    "clocksource",
    "cmd_type",
    "continue_on_error",
    "cpumask",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "ddir",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_percentage",
    "dedupe_working_set_percentage",
    "description",
    "direct",
    "disable_bw",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "disk_util",
    "do_verify",
    "end_fsync",
    "error_dump",
    "exec_postrun",
    "exec_prerun",
    "exit_what",
    "exitall_on_error",
    "fadvise_hint",
    "fallocate",
    "file_service_type",
    "fixedbufs",
    "fsync_on_close",
    "group_reporting",
    "gtod_cpu",
    "gtod_reduce",
    "hipri",
    "hipri_percentage",
    "hugepage-size",
    "ignore_error",
    "invalidate",
    "io_submit_mode",
    "iodepth_batch",
    "iodepth_batch_complete",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_batch_submit",
    "iodepth_low",
    "iomem",
    "iomem_align",
    "iopsavgtime",
    "ioscheduler",
    "kb_base",
    "lat_percentiles",
    "latency_percentile",
    "latency_run",
    "latency_target",
    "latency_window",
    "lockfile",
    "lockmem",
    "log_alternate_epoch",
    "log_avg_msec",
    "log_compression",
    "log_compression_cpus",
    "log_entries",
    "log_hist_coarseness",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_store_compressed",
    "log_unix_epoch",
    "log_window_value",
    "max_latency",
    "mem",
    "mem_align",
    "name",
    "new_group",
    "nice",
    "nonvectored",
    "nowait",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "openfiles",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "pre_read",
    "prio",
    "prioclass",
    "priohint",
    "ramp_time",
    "rate_cycle",
    "rate_ignore_thinktime",
    "rate_iops_min",
    "rate_min",
    "rate_process",
    "refill_buffers",
    "registerfiles",
    "rwmixcycle",
    "scramble_buffers",
    "serialize_overlap",
    "significant_figures",
    "slat_percentiles",
    "softrandommap",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "ss",
    "ss_dur",
    "ss_ramp",
    "stats",
    "steadystate",
    "steadystate_check_interval",
    "steadystate_duration",
    "steadystate_ramp_time",
    "sync",
    "sync_file_range",
    "thinktime_spin",
    "thread",
    "uid",
    "gid",
    "uncached",
    "unified_rw_reporting",
    "unique_filename",
    "unit_base",
    "unlink",
    "userspace_reap",
    "verify_dump",
    "verify_fatal",
    "write_barrier",
    "write_bw_log",
    "write_hist_log",
    "write_iolog",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
];

/// Options that matter unless they have one of these values, and why.
const UNSUPPORTED: &[(&str, &[&str], &str, &str)] = &[
    ("bs_unaligned", &["0"], "it makes requests that are no whole sectors", "leave it out"),
    ("create_only", &["0"], "it writes nothing but the files", "leave out the job"),
    ("dp_scheme", &[], "it takes placement identifiers from a file", "use --streams"),
    ("exitall", &["0"], "when a job ends hangs on time", "give each job its size or io_size"),
    ("file_append", &["0"], "where a file ends is not known here", "give offset="),
    ("fill_device", &["0"], "it writes until the drive is full", "write size=100% instead"),
    ("fill_fs", &["0"], "it writes until the drive is full", "write size=100% instead"),
    ("flow", &["0"], "it holds jobs back by each other", "divide the requests by iodepth"),
    ("flow_id", &[], "it holds jobs back by each other", "divide the requests by iodepth"),
    ("nrfiles", &["1"], "several files for a job are not supported", "make it several jobs"),
    ("num_range", &["1"], "trims of several ranges are not supported", "leave it out"),
    ("opendir", &[], "which files there are is not known here", "name one with filename="),
    ("profile", &[], "profiles of fio are programs", "write their jobs as sections"),
    ("replay_redirect", &[], "it names a device", "name it with filename="),
    ("replay_time_scale", &["100"], "it stretches the times of a log", "leave it out"),
    ("replay_scale", &["1"], "it divides the addresses of a log", "leave it out"),
    ("replay_align", &["0"], "it moves the addresses of a log", "leave it out"),
    ("replay_skip", &[], "it leaves out requests of a log", "leave it out"),
    ("sprandom", &["0"], "its order of pages is not supported", "use --fill and norandommap"),
    ("thinktime_blocks_type", &["complete"], "it thinks by what is issued", "leave it out"),
    ("thinktime_iotime", &["0"], "it thinks by time", "use thinktime_blocks"),
    ("trim_percentage", &["0"], "its trims are not supported", "use rw=trimwrite"),
    ("trim_backlog", &["0"], "its trims are not supported", "use rw=trimwrite"),
    ("unlink_each_loop", &["0"], "it deletes the file after each loop", "leave it out"),
    ("verify", &["0", "none"], "it reads back, and draws sizes otherwise", "leave it out"),
    ("verify_only", &["0"], "it writes nothing", "leave out the job"),
    ("wait_for", &[], "jobs wait only for all jobs before them", "use stonewall"),
    (
        "write_hint",
        &["none", "not-set"],
        "hints are no streams",
        "use dataplacement=streams and plids=",
    ),
    ("zonemode", &["none"], "zones of the drive are not supported", "leave it out"),
    ("zonesize", &["0"], "zones of the drive are not supported", "leave it out"),
    ("zonerange", &["0"], "zones of the drive are not supported", "leave it out"),
    ("zoneskip", &["0"], "zones of the drive are not supported", "leave it out"),
    ("zonecapacity", &["0"], "zones of the drive are not supported", "leave it out"),
];

/// Engines that wait for each request, so that no queue forms.
const SYNCHRONOUS: &[&str] = &[
    "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "sg", "libpmem", "pmemblk",
    "dev-dax", "mtd",
];

/// Engines that write to something else than a drive, or do something else than write.
const ELSEWHERE: &[&str] = &[
    "cpuio",
    "net",
    "netsplice",
    "rdma",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "exec",
    "falloc",
    "e4defrag",
    "librpma_apm_client",
    "librpma_apm_server",
    "librpma_gpspm_client",
    "librpma_gpspm_server",
];

/// Whether an option can be passed over.
pub(super) fn is_harmless(name: &str, value: Option<&str>) -> bool {
    let harmless_values = |known: &[&str]| value.is_some_and(|value| known.contains(&value));
    HARMLESS.contains(&name)
        || UNSUPPORTED.iter().any(|(known, values, ..)| *known == name && harmless_values(values))
}

/// Why an option is refused that is known.
pub(super) fn refusal(name: &str) -> Option<Fault> {
    let (_, _, reason, remedy) = UNSUPPORTED.iter().find(|(known, ..)| *known == name)?;
    Some(Fault::new(format!("{name}: {reason}"), *remedy))
}

/// Why an option is refused that is not.
pub(super) fn unknown(name: &str) -> Fault {
    Fault::new(
        format!("{name} is no option that ftlab knows, and may change what is written"),
        "leave it out if it does not (docs/fio.md lists those that are known)",
    )
}

/// Refuses engines that do not write to a drive.
pub(super) fn check_engine(engine: &str) -> Result<(), Fault> {
    if ELSEWHERE.contains(&engine) {
        return Err(Fault::new(
            format!("ioengine={engine} does not write to a drive"),
            "leave out the job",
        ));
    }
    Ok(())
}

/// Whether an engine has no more than one request under way.
pub(super) fn is_synchronous(engine: &str) -> bool {
    SYNCHRONOUS.contains(&engine)
}

/// Whether an engine completes requests some time after it took them.
pub(super) fn queues(engine: &str, iodepth: u32) -> bool {
    !(is_synchronous(engine) || engine == "null" && iodepth == 1)
}
