//! How much memory there is, and a refusal of what needs more.

use crate::TraceError;
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::{Path, PathBuf};

/// Memory that this process can have without swapping: what the machine has available, or less if a
/// control group or `ulimit -v` says so; `None` where the system does not say.
pub fn available_bytes() -> Option<u64> {
    let limits = [of_machine(), of_control_groups(Path::new("/")), of_process()];
    limits.into_iter().flatten().min()
}

/// Refuses what needs more memory than there is: `what` takes `needed_bytes`, and `remedy` says how
/// to need less.
pub fn check_memory(
    what: impl Into<String>,
    needed_bytes: u64,
    remedy: impl Into<String>,
) -> Result<(), TraceError> {
    match available_bytes() {
        Some(available_bytes) if needed_bytes > available_bytes => Err(TraceError::Memory {
            what: what.into(),
            needed_bytes,
            available_bytes,
            remedy: remedy.into(),
        }),
        _ => Ok(()),
    }
}

fn of_machine() -> Option<u64> {
    kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// What `ulimit -v` leaves.
fn of_process() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let taken = kib(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(taken))
}

/// A number of KiB in a file of `/proc`, in bytes.
fn kib(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What the tightest control group that this process is in leaves, of either version.
fn of_control_groups(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let left = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let files = match controllers {
            "" => Files::V2,
            _ if controllers.split(',').any(|name| name == "memory") => Files::V1,
            _ => return None,
        };
        files.least_left(root, path)
    });
    left.min()
}

/// The files of a version of control groups.
#[derive(Clone, Copy)]
enum Files {
    V1,
    V2,
}

impl Files {
    /// What is left in a group and in those around it. Within a container, the outermost ones are
    /// not visible, and its own may be at the top.
    fn least_left(self, root: &Path, path: &str) -> Option<u64> {
        let top = root.join(match self {
            Self::V1 => "sys/fs/cgroup/memory",
            Self::V2 => "sys/fs/cgroup",
        });
        let path = PathBuf::from(path.trim_start_matches('/'));
        path.ancestors().filter_map(|group| self.left(&top.join(group))).min()
    }

    /// The limit of a group, without what it uses; cached files count as free.
    fn left(self, group: &Path) -> Option<u64> {
        let [limit, used, cached] = match self {
            Self::V1 => ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "],
            Self::V2 => ["memory.max", "memory.current", "inactive_file "],
        };
        let number = |file: &str| -> Option<u64> {
            fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()
        };
        let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let cached = statistics.lines().find_map(|line| line.strip_prefix(cached)?.parse().ok());
        let used = number(used)?.saturating_sub(cached.unwrap_or(0));
        Some(number(limit)?.saturating_sub(used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    #[test]
    fn the_tightest_control_group_counts() {
        let root = tree(&[
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/memory.max", "1000\n"),
            ("sys/fs/cgroup/outer/memory.current", "900\n"),
            ("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 300\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/inner/memory.current", "800\n"),
        ]);
        assert_eq!(of_control_groups(root.path()), Some(400));
    }

    #[test]
    fn the_first_version_of_control_groups_counts_too() {
        let root = tree(&[
            ("proc/self/cgroup", "5:cpu:/a\n4:hugetlb,memory:/docker/x\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "6000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 2000\n"),
        ]);
        assert_eq!(of_control_groups(root.path()), Some(1000));
    }

    #[test]
    fn without_control_groups_the_machine_counts() {
        assert_eq!(of_control_groups(tree(&[]).path()), None);
        // Other programs take and give back memory between two looks.
        let both = || available_bytes().unwrap() <= of_machine().unwrap();
        assert!((0..1000).any(|_| both()));
        check_memory("nothing", 0, "").unwrap();
        let error = check_memory("a drive", 1 << 62, "make it smaller").unwrap_err().to_string();
        assert!(error.starts_with("a drive needs 4294967296.0 GiB of memory, and "), "{error}");
        assert!(error.ends_with(" GiB are available; make it smaller"), "{error}");
    }
}
