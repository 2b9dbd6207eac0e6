//! What is worth knowing of options, beside what they make a job do.

use super::job_file::Setting;
use super::values::KbBase;
use std::collections::BTreeSet;

/// Remarks on the options of all jobs, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Remarks {
    /// Options that cannot change which pages are written.
    passed_over: BTreeSet<String>,
    /// Sizes that are not what they look like.
    units: BTreeSet<String>,
    /// Environment variables that are not set.
    unset: BTreeSet<String>,
    /// Jobs that are `time_based` without a `runtime`.
    timeless: BTreeSet<String>,
    /// The device whose jobs are taken, if they were chosen.
    device: Option<String>,
}

impl Remarks {
    /// Takes note of an option that is passed over.
    pub(super) fn pass_over(&mut self, name: &str) {
        self.passed_over.insert(name.to_owned());
    }

    /// Takes note of what is odd about an option that is used.
    pub(super) fn note_used(&mut self, setting: &Setting, base: KbBase) {
        self.unset.extend(setting.unset.iter().map(|name| format!("${{{name}}}")));
        let odd = base.odd_sizes(setting.value.as_deref().unwrap_or_default());
        self.units.extend(odd.iter().map(|(text, bytes)| format!("{text} is {bytes} bytes")));
    }

    /// Takes note of a job that is `time_based` without a `runtime`.
    pub(super) fn note_timeless(&mut self, job: &str) {
        self.timeless.insert(format!("[{job}]"));
    }

    /// Takes note of the device whose jobs are taken.
    pub(super) fn take_device(&mut self, name: &str) {
        self.device = Some(format!("{name} alone; jobs of others are left out"));
    }

    /// All of them, by name.
    pub(super) fn notes(&self) -> impl Iterator<Item = (&'static str, String)> {
        let joined = |texts: &BTreeSet<String>| {
            Some(texts.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
                .filter(|text| !text.is_empty())
        };
        let units = joined(&self.units).map(|text| {
            format!("{text}: for fio k is 1024 bytes and kib 1000, unless kb_base=1000")
        });
        let unset = joined(&self.unset).map(|text| format!("not set, and so empty: {text}"));
        let timeless = joined(&self.timeless)
            .map(|text| format!("not without runtime, as in fio: {text} ends with its work"));
        let options = joined(&self.passed_over).map(|text| format!("without effect here: {text}"));
        let notes = [
            ("fio device", self.device.clone()),
            ("fio units", units),
            ("fio variables", unset),
            ("fio time_based", timeless),
            ("fio options", options),
        ];
        notes.into_iter().filter_map(|(name, text)| Some((name, text?)))
    }
}
