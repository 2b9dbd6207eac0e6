//! Files of what was measured: tables, and what fio writes.

use super::fio;
use super::measured::{LatencyTimes, MeasuredLoad, MeasuredLoads};
use crate::error::ExperimentsError;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

impl MeasuredLoads {
    /// Reads tables, and outputs of fio; of several drives in a table, the one of this name.
    pub fn read(paths: &[PathBuf], name: Option<&str>) -> Result<Self, ExperimentsError> {
        let mut all = Self { name: None, loads: Vec::new() };
        for path in paths {
            let text = fs::read_to_string(path)
                .map_err(|source| ExperimentsError::Read { path: path.clone(), source })?;
            let of_file = Self::of_file(&text, name)
                .map_err(|reason| ExperimentsError::Series { path: path.clone(), reason })?;
            all.name = all.name.or(of_file.name);
            all.loads.extend(of_file.loads);
        }
        let rate = |load: &MeasuredLoad| {
            let done = load.writes_per_second + load.reads_per_second.unwrap_or(0.0);
            load.asked_per_second.unwrap_or(done)
        };
        all.loads.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        Ok(all)
    }

    fn of_file(text: &str, name: Option<&str>) -> Result<Self, String> {
        if !fio::is_of_fio(text) {
            return Self::parse(text, name);
        }
        match name {
            Some(name) => Err(format!(
                "--name {name} chooses a drive of a table, and this is the output of fio; leave it out"
            )),
            None => Ok(Self { name: None, loads: fio::loads(text)? }),
        }
    }

    fn parse(text: &str, name: Option<&str>) -> Result<Self, String> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let (header, _) = lines.next().ok_or("the file is empty; it needs a line of headings")?;
        let headings = fields(header);
        let at = |column: &str| headings.iter().position(|heading| *heading == column);
        let of_drive = at("drive");
        let mut names = BTreeSet::new();
        let mut loads = Vec::new();
        for (line, number) in lines {
            let fields = fields(line);
            if fields.len() != headings.len() {
                return Err(format!(
                    "line {number} has {} fields, and the headings are {}; give one for each",
                    fields.len(),
                    headings.len()
                ));
            }
            let own = of_drive.map(|at| fields[at]);
            names.extend(own.map(str::to_owned));
            if name.is_some() && own != name {
                continue;
            }
            let row = Row { headings: &headings, fields: &fields, number };
            loads.push(row.load()?);
        }
        let known = || names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        if loads.is_empty() {
            return Err(match name {
                Some(name) if !names.is_empty() => {
                    format!("it has no drive {name:?}; name one of {}", known())
                }
                _ => "it has no line of numbers; give one for each load".into(),
            });
        }
        if name.is_none() && names.len() > 1 {
            return Err(format!("it has several drives; name one with --name: {}", known()));
        }
        let name = name.map(str::to_owned).or_else(|| names.pop_first());
        Ok(Self { name, loads })
    }
}

fn fields(line: &str) -> Vec<&str> {
    line.split(',').map(|field| field.trim().trim_matches('"')).collect()
}

/// A line, with its headings.
struct Row<'a> {
    headings: &'a [&'a str],
    fields: &'a [&'a str],
    number: usize,
}

impl Row<'_> {
    fn load(&self) -> Result<MeasuredLoad, String> {
        let reads_per_second = self.value("reads_per_s")?;
        let writes_per_second = match self.value("writes_per_s")? {
            Some(writes) => writes,
            None if reads_per_second.is_some() => 0.0,
            None => self.needed("writes_per_s")?,
        };
        let queue_depth = self.value("depth")?.map(|depth| depth.round().max(1.0) as u32);
        let thousands = self.value("set_rate_thousands_per_s")?;
        let asked = self.value("set_writes_per_s")?.or(thousands.map(|rate| 1e3 * rate));
        if asked.is_none() && queue_depth.is_none() {
            return Err(format!(
                "line {} has neither set_writes_per_s nor, of a closed loop, depth; add one of the columns",
                self.number
            ));
        }
        let load = MeasuredLoad {
            name: None,
            asked_per_second: asked,
            writes_per_second,
            reads_per_second,
            queue_depth,
            reads: self.times("read")?,
            writes: self.times("write")?,
        };
        if load.reads == LatencyTimes::default() {
            return Err(
                "it has no latency of reads; give read_mean_us, read_p50_us, read_p99_us or read_p99.9_us"
                    .into(),
            );
        }
        Ok(load)
    }

    fn times(&self, of: &str) -> Result<LatencyTimes, String> {
        let value = |what: &str| self.value(&format!("{of}_{what}_us"));
        Ok(LatencyTimes {
            mean_us: value("mean")?,
            p50_us: value("p50")?,
            p99_us: value("p99")?,
            p99_9_us: value("p99.9")?,
        })
    }

    fn needed(&self, column: &str) -> Result<f64, String> {
        let value = self.value(column)?;
        value.ok_or_else(|| format!("line {} has no {column}; add the column", self.number))
    }

    /// What is in a column; none if it is empty, or there is no such column.
    fn value(&self, column: &str) -> Result<Option<f64>, String> {
        let at = self.headings.iter().position(|heading| *heading == column);
        let Some(text) = at.map(|at| self.fields[at]).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value < 1e12 => Ok(Some(value)),
            _ => Err(format!(
                "{column} in line {} is {text:?}; it has to be a number above 0, or empty",
                self.number
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "drive,set_rate_thousands_per_s,writes_per_s,read_p50_us,read_p99_us,read_mean_us,write_p50_us\n\
                       A,200,76518,899,2203,953,3378\nB,10,9950,56,,74,10\nA,10,9952,64,236,75,11\n";

    #[test]
    fn loads_of_the_named_drive_are_read() {
        let drive = MeasuredLoads::parse(TWO, Some("A")).unwrap();
        assert_eq!(drive.name.as_deref(), Some("A"));
        let [heavy, light] = drive.loads.as_slice() else { panic!("{drive:?}") };
        assert!(!light.is_saturated() && heavy.is_saturated());
        assert_eq!((light.asked_per_second, light.reads.p99_us), (Some(10_000.0), Some(236.0)));
        assert_eq!((light.reads.p99_9_us, light.writes.p50_us), (None, Some(11.0)));
        let other = MeasuredLoads::parse(TWO, Some("B")).unwrap();
        assert_eq!(other.loads[0].reads.p99_us, None);
    }

    #[test]
    fn a_closed_loop_has_a_depth_and_no_rate() {
        let text = "depth,reads_per_s,writes_per_s,read_p50_us,write_p50_us\n\
                    1,5000,5000,80,12\n128,9000,9000,300,900\n4,7000,,90,\n";
        let loads = MeasuredLoads::parse(text, None).unwrap().loads;
        assert!(loads.iter().all(MeasuredLoad::is_closed));
        // Writes wait for the flash where they take longer than reads.
        let saturated: Vec<bool> = loads.iter().map(MeasuredLoad::is_saturated).collect();
        assert_eq!(saturated, [false, true, false]);
        assert_eq!((loads[1].queue_depth, loads[2].writes_per_second), (Some(128), 0.0));
        let open = MeasuredLoad { asked_per_second: Some(9000.0), ..loads[1].clone() };
        assert!(!open.is_closed() && !open.is_saturated());
        assert!(MeasuredLoad { asked_per_second: Some(9900.0), ..open }.is_saturated());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let short = "writes_per_s,set_writes_per_s,read_p50_us\n";
        for (text, name, message) in [
            (TWO, None, "name one with --name: \"A\", \"B\""),
            (TWO, Some("C"), "no drive \"C\"; name one of \"A\", \"B\""),
            ("", None, "empty"),
            (short, None, "no line of numbers"),
            (&format!("{short}1,2"), None, "line 2 has 2 fields, and the headings are 3"),
            (&format!("{short}1,-2,3"), None, "set_writes_per_s in line 2 is \"-2\""),
            (&format!("{short}1,2,"), None, "no latency of reads"),
            (&format!("{short}1,,3"), None, "line 2 has neither set_writes_per_s nor"),
            (&format!("{short},2,3"), None, "line 2 has no writes_per_s"),
        ] {
            let error = MeasuredLoads::parse(text, name).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
