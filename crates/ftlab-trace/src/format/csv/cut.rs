//! Cutting a line of CSV into the fields that a map names, without allocation.

use super::Delimiter;
use crate::format::fields::Fields;
use memchr::memchr;

/// The slot of a column that no part of the map names.
pub(super) const UNUSED: u8 = u8::MAX;

/// The mapped fields of a line, by slot.
pub(super) type Row<'a> = [&'a [u8]; 7];

/// What a line should have, and has not.
pub(super) const TOO_FEW: &str = "as many columns as the map names";
pub(super) const TOO_MANY: &str = "no more columns than the header has";

/// The mapped fields of `line`, which has as many columns as `slots` or more, but at most as many as
/// the header, if there is one; what is wrong with it otherwise.
#[inline]
pub(super) fn cut<'a>(
    line: &'a [u8],
    delimiter: Delimiter,
    slots: &[u8],
    columns_max: Option<usize>,
) -> Result<Row<'a>, &'static str> {
    let mut row = Row::default();
    // One more than there may be shows a line that has more.
    let looked_at = columns_max.map_or(slots.len(), |most| slots.len().max(most + 1));
    let fields = for_each_field(line, delimiter, looked_at, |index, field| {
        let slot = slots.get(index).copied().unwrap_or(UNUSED);
        if let Some(place) = row.get_mut(usize::from(slot)) {
            *place = field;
        }
    });
    match columns_max {
        _ if fields < slots.len() => Err(TOO_FEW),
        Some(most) if fields > most => Err(TOO_MANY),
        _ => Ok(row),
    }
}

/// Calls `each` with the first `count` fields of `line`, without blanks around them or quotes; how
/// many there are.
#[inline]
pub(super) fn for_each_field<'a>(
    line: &'a [u8],
    delimiter: Delimiter,
    count: usize,
    mut each: impl FnMut(usize, &'a [u8]),
) -> usize {
    let byte = match delimiter {
        Delimiter::Semicolon => b';',
        Delimiter::Tab => b'\t',
        Delimiter::Pipe => b'|',
        Delimiter::Comma | Delimiter::Auto => b',',
        Delimiter::Blank => {
            let fields = Fields::new(line).take(count).enumerate();
            return fields.map(|(index, field)| each(index, unquoted(field))).count();
        }
    };
    if memchr(b'"', line).is_some() {
        return each_quoted(line, byte, count, each);
    }
    let mut rest = line;
    for index in 0..count {
        // Fields are a few bytes long, so that a plain loop beats a vectorised search.
        let Some(end) = rest.iter().position(|b| *b == byte) else {
            each(index, rest.trim_ascii());
            return index + 1;
        };
        each(index, rest[..end].trim_ascii());
        rest = &rest[end + 1..];
    }
    count
}

/// [`for_each_field`] of a line with quotes: a delimiter within them does not end a field.
#[cold]
fn each_quoted<'a>(
    line: &'a [u8],
    delimiter: u8,
    count: usize,
    mut each: impl FnMut(usize, &'a [u8]),
) -> usize {
    let mut rest = line;
    for index in 0..count {
        let end = field_end(rest, delimiter);
        each(index, unquoted(rest[..end].trim_ascii()));
        if end == rest.len() {
            return index + 1;
        }
        rest = &rest[end + 1..];
    }
    count
}

fn field_end(rest: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    for (index, byte) in rest.iter().enumerate() {
        if *byte == delimiter && !quoted {
            return index;
        }
        quoted ^= *byte == b'"';
    }
    rest.len()
}

#[inline]
fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] => inner,
        _ => field,
    }
}
