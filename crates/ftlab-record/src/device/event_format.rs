//! The layout of an event's fields, from the kernel's own description, `events/*/*/format`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Field {
    /// The field called `name` in a description of lines such as
    /// `field:sector_t sector; offset:16; size:8; signed:0;` (with tabs).
    pub(super) fn find(description: &str, name: &str) -> Option<Self> {
        description.lines().find_map(|line| {
            let (declaration, rest) = line.trim().strip_prefix("field:")?.split_once(';')?;
            // "unsigned int nr_sector" or "char rwbs[10]"
            let declared = declaration.split_whitespace().next_back()?;
            if declared.split('[').next() != Some(name) {
                return None;
            }
            Some(Self { offset: attribute(rest, "offset:")?, size: attribute(rest, "size:")? })
        })
    }

    /// Its bytes; empty if the record ends before it.
    pub(super) fn of<'a>(&self, record: &'a [u8]) -> &'a [u8] {
        record.get(self.offset..self.offset + self.size).unwrap_or_default()
    }

    /// Its value, an unsigned number of up to eight bytes.
    pub(super) fn number(&self, record: &[u8]) -> u64 {
        let bytes = self.of(record);
        let mut word = [0; 8];
        if cfg!(target_endian = "little") {
            word[..bytes.len()].copy_from_slice(bytes);
        } else {
            word[8 - bytes.len()..].copy_from_slice(bytes);
        }
        u64::from_ne_bytes(word)
    }

    /// Whether it can be read as a number.
    pub(super) fn is_number(&self) -> bool {
        (1..=8).contains(&self.size)
    }
}

fn attribute(text: &str, name: &str) -> Option<usize> {
    let (_, rest) = text.split_once(name)?;
    rest.split(';').next()?.trim().parse().ok()
}

/// A block event: the fields that hold the operation, its range and the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventFormat {
    /// The number at the start of its records.
    pub(super) id: u64,
    kind: Field,
    sector: Field,
    sectors: Field,
    rwbs: Field,
}

/// The parts of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) sector: u64,
    pub(super) sectors: u32,
    pub(super) rwbs: &'a [u8],
}

impl EventFormat {
    /// Reads the description of an event.
    pub(super) fn parse(description: &str) -> Option<Self> {
        let id = description.lines().find_map(|line| line.strip_prefix("ID:"))?;
        let field = |name| Field::find(description, name);
        let number = |name| field(name).filter(Field::is_number);
        Some(Self {
            id: id.trim().parse().ok()?,
            kind: number("common_type")?,
            sector: number("sector")?,
            sectors: number("nr_sector")?,
            rwbs: field("rwbs")?,
        })
    }

    /// The parts of `record`; `None` if it is of another event.
    pub(super) fn read<'a>(&self, record: &'a [u8]) -> Option<Record<'a>> {
        if self.kind.number(record) != self.id {
            return None;
        }
        let letters = self.rwbs.of(record);
        let end = letters.iter().position(|byte| *byte == 0).unwrap_or(letters.len());
        Some(Record {
            sector: self.sector.number(record),
            sectors: self.sectors.number(record) as u32,
            rwbs: &letters[..end],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = "name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;

print fmt: \"%d\", REC->dev
";

    #[test]
    fn fields_are_found_where_the_kernel_says() {
        let format = EventFormat::parse(ISSUE).unwrap();
        let mut record = [0_u8; 48];
        record[..2].copy_from_slice(&2104_u16.to_ne_bytes());
        record[16..24].copy_from_slice(&0x1_0000_0008_u64.to_ne_bytes());
        record[24..28].copy_from_slice(&16_u32.to_ne_bytes());
        record[34..37].copy_from_slice(b"WFS");
        let expected = Record { sector: 0x1_0000_0008, sectors: 16, rwbs: b"WFS" };
        assert_eq!(format.read(&record), Some(expected));
        record[0] = 0;
        assert_eq!(format.read(&record), None);
    }

    #[test]
    fn a_description_without_a_field_is_refused() {
        assert_eq!(EventFormat::parse(&ISSUE.replace("nr_sector", "bytes")), None);
        assert_eq!(EventFormat::parse(&ISSUE.replace("size:8", "size:16")), None);
        assert_eq!(EventFormat::parse(""), None);
    }
}
