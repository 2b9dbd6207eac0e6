//! Which drive a log tells about.

use std::fmt;

/// What names a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Device,
    Serial,
    Group,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DriveName {
    pub(super) kind: Kind,
    name: String,
}

impl fmt::Display for DriveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Device => "",
            Kind::Serial => "serial number ",
            Kind::Group => "endurance group ",
        };
        write!(f, "{kind}{}", self.name)
    }
}

impl DriveName {
    pub(super) fn device(name: &str) -> Option<Self> {
        device(name).map(|name| Self { kind: Kind::Device, name })
    }

    /// Whatever a table calls it.
    pub(super) fn of_table(kind: Kind, name: &str) -> Self {
        let device = if kind == Kind::Device { Self::key(name) } else { None };
        device.unwrap_or_else(|| Self { kind, name: name.to_owned() })
    }

    /// A device that is named alone, with or without its directory: `sda` is one as well.
    pub(super) fn key(name: &str) -> Option<Self> {
        let is_disk = (3..=4).contains(&name.len())
            && (name.starts_with("sd") || name.starts_with("hd"))
            && name.chars().all(|c| c.is_ascii_lowercase());
        if is_disk { Self::device(&format!("/dev/{name}")) } else { Self::device(name) }
    }

    pub(super) fn group(name: &str) -> Self {
        Self { kind: Kind::Group, name: name.to_owned() }
    }

    pub(super) fn serial(name: &str) -> Option<Self> {
        let name = name.trim().trim_matches('"');
        let is_told = name.chars().any(char::is_alphanumeric);
        is_told.then(|| Self { kind: Kind::Serial, name: name.to_owned() })
    }
}

pub(super) fn named(line: &str) -> Vec<DriveName> {
    let mut drives = Vec::new();
    if let Some((label, name)) = line.split_once(':') {
        let label = label.trim();
        if label.eq_ignore_ascii_case("serial number") || label.eq_ignore_ascii_case("sn") {
            drives.extend(DriveName::serial(name));
        }
    }
    if let Some((_, group)) = line.split_once("Group ID:") {
        let group = group.split_whitespace().next().unwrap_or_default();
        drives.push(DriveName::group(group));
    }
    if let Some((_, group)) = line.split_once("endgid") {
        let group = group.trim_start_matches(|c: char| c.is_whitespace() || "\"':=".contains(c));
        let end = group.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(group.len());
        drives.extend((end > 0).then(|| DriveName::group(&group[..end])));
    }
    // Plugins print this field with a drive's name in it, whichever drive it is.
    let may_name = line.contains("nvme") || line.contains("/dev/") || line.contains("/ng");
    if may_name && !line.contains("NUSE") {
        let words = line.split(|c: char| c.is_whitespace() || "=:,;()[]\"'{}".contains(c));
        drives.extend(words.filter_map(DriveName::device));
    }
    if let Some((_, address)) = line.split_once("Controller at ") {
        let name = address.split_whitespace().next().unwrap_or_default();
        drives.push(DriveName { kind: Kind::Device, name: name.to_owned() });
    }
    drives
}

/// The drive of a device: `nvme0` of `/dev/nvme0n1`, `sda` of `/dev/sda1`. None if it is not the name of one.
fn device(word: &str) -> Option<String> {
    let name = word.strip_prefix("/dev/").unwrap_or(word);
    let number = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let is_device = rest[digits..].chars().all(|c| c.is_ascii_digit() || "cnp".contains(c));
        (digits > 0 && is_device).then(|| format!("nvme{}", &rest[..digits]))
    };
    let is_path = name.len() < word.len() && !name.is_empty();
    number("nvme").or_else(|| number("ng")).or_else(|| {
        let is_disk = name.starts_with("sd") || name.starts_with("hd") || name.starts_with("ada");
        let letters = if name.starts_with("ada") {
            name
        } else {
            name.trim_end_matches(|c: char| c.is_ascii_digit())
        };
        (is_path && is_disk).then(|| letters.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<String> {
        named(line).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_drive_has_one_name_whatever_part_of_it_is_named() {
        for line in [
            "Smart Log for NVME device:nvme0 namespace-id:ffffffff",
            "Smart Log for NVME device:nvme0n1 namespace-id:1",
            "$ nvme smart-log /dev/nvme0n1p2",
            "nvme fdp stats /dev/ng0n1 -e 1",
            "SMART Cloud Attributes for NVMe device       : nvme0",
        ] {
            assert_eq!(of(line), ["nvme0"], "{line}");
        }
        assert_eq!(of("smartctl -a /dev/sdb1"), ["sdb"]);
        assert_eq!(of("NVMe Controller at 0000:01:00.0 [144d:a824]"), ["0000:01:00.0"]);
        for line in ["Serial Number:    S64GNE0R", "sn        : S64GNE0R"] {
            assert_eq!(of(line), ["serial number S64GNE0R"]);
        }
        let group = "Endurance Group Log for NVME device:nvme1 Group ID:2";
        assert_eq!(of(group), ["endurance group 2", "nvme1"]);
    }

    #[test]
    fn other_words_name_no_drive() {
        for line in [
            "nvme-cli 2.9",
            "Total Namespace Utilization (nvme0n1 NUSE) (Bytes) : 5",
            "SMART/Health Information (NVMe Log 0x02)",
            "standard",
            "Serial Number:    --",
            "/dev/null",
        ] {
            assert_eq!(of(line), Vec::<String>::new(), "{line}");
        }
    }
}
