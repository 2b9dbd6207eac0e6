//! A fitted drive as a file, which `--drive` takes.

use super::answer::Fit;
use super::left_out::Errors;
use super::verdict::Verdict;
use ftlab_sim::format::significant;
use std::fmt::Write;

/// Shares as a percentage with as many digits as a fit tells.
fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Text as TOML has it; what has to be escaped in JSON has to be there.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

impl Fit {
    /// The drive as a file: what simulations take, what it was fitted to, and how well it predicts what it was not. `None`
    /// if nothing explains what was measured.
    pub fn saved(&self, title: &str) -> Option<String> {
        let bounds = self.bounds.as_ref()?;
        if matches!(self.verdict, Verdict::Unexplained { .. }) {
            return None;
        }
        let best = &self.drives[0];
        let drive = &best.candidate;
        let mut text = format!(
            "# A drive, as --drive takes it; written by {}.\n\
             title = {}\n\
             # Bytes that the host can address, over-provisioning, and bytes that it collects at once.\n\
             drive = \"{}, {}, {:.0}\"\n\
             ftl = {}\n\
             reserve = {}\n\
             gc = {}\n\
             # Written beside the host's pages and those that are moved, as a share of them.\n\
             overhead = \"{}\"\n\n\
             [fit]\n",
            ftlab_spec::written_by(),
            quoted(title),
            drive.capacity,
            percent(best.op_ratio),
            best.unit_bytes,
            quoted(&drive.ftl),
            drive.reserve,
            quoted(&drive.gc),
            percent(self.overhead),
        );
        let explains = if self.verdict == Verdict::Explained { "yes" } else { "in part" };
        let as_good: Vec<String> =
            self.drives[1..self.as_good].iter().map(|own| quoted(&own.candidate.ftl)).collect();
        // Nothing can fail that writes to memory.
        let _ = writeln!(
            text,
            "explains = \"{explains}\"\n\
             # Over the intervals of all series that it was fitted to, in shares of WAF - 1.\n\
             off = \"{}\"\n\
             # What the series do not exclude (95%), if this is the FTL.\n\
             op = [\"{}\", \"{}\"]\n\
             unit = [{:.0}, {:.0}]\n\
             as-good = [{}]",
            percent(best.distance.rms),
            percent(bounds.op_ratio.0),
            percent(bounds.op_ratio.1),
            bounds.unit_bytes.0,
            bounds.unit_bytes.1,
            as_good.join(", ")
        );
        let error = self.error();
        if error > 0.0 {
            let _ = writeln!(
                text,
                "# What was measured follows from how long writes took: a standard deviation, in shares of WAF - 1.\n\
                 error = \"{}\"",
                percent(error)
            );
        }
        if let Some(errors) = Errors::of(&self.left_out) {
            let _ = writeln!(
                text,
                "\n# Each series predicted by a fit of the others, in shares of WAF - 1.\n\
                 [held-out]\n\
                 median = \"{}\"\n\
                 nine-tenths = \"{}\"\n\
                 in-order = \"{} of {} pairs\"",
                percent(errors.median),
                percent(errors.nine_tenths),
                errors.in_order,
                errors.pairs
            );
        }
        for own in &best.series {
            let facts = &self.series[own.index];
            let _ = writeln!(
                text,
                "\n[[series]]\nname = {}\nmeasured = {}\nfitted = {}",
                quoted(&facts.name),
                significant(facts.waf, 4),
                significant(own.waf, 4)
            );
            if facts.error > 0.0 {
                let _ = writeln!(text, "error = {}", facts.error);
            }
            if let Some(left_out) = self.left_out.iter().find(|other| other.index == own.index) {
                let _ = writeln!(text, "predicted = {}", significant(left_out.waf.1, 4));
            }
        }
        Some(text)
    }
}
