//! Cutting a line of CSV into the fields that a map names, without allocation.

use super::Delimiter;
use crate::format::fields::Fields;

/// The slot of a column that no part of the map names.
pub(super) const UNUSED: u8 = u8::MAX;

/// The mapped fields of a line, by slot.
pub(super) type Row<'a> = [Option<&'a [u8]>; 6];

/// The mapped fields of `line`.
#[inline]
pub(super) fn cut<'a>(line: &'a [u8], delimiter: Delimiter, slots: &[u8]) -> Row<'a> {
    let mut row = Row::default();
    for_each_field(line, delimiter, slots.len(), |index, field| {
        if let Some(place) = row.get_mut(usize::from(slots[index])) {
            *place = Some(field);
        }
    });
    row
}

/// Calls `each` with the first `count` fields of `line`, without blanks around them or quotes.
#[inline]
pub(super) fn for_each_field<'a>(
    line: &'a [u8],
    delimiter: Delimiter,
    count: usize,
    mut each: impl FnMut(usize, &'a [u8]),
) {
    let byte = match delimiter {
        Delimiter::Semicolon => b';',
        Delimiter::Tab => b'\t',
        Delimiter::Comma | Delimiter::Auto => b',',
        Delimiter::Blank => {
            Fields::new(line)
                .take(count)
                .enumerate()
                .for_each(|(index, field)| each(index, unquoted(field)));
            return;
        }
    };
    let mut rest = line;
    for index in 0..count {
        let end = field_end(rest, byte);
        each(index, unquoted(rest[..end].trim_ascii()));
        if end == rest.len() {
            return;
        }
        rest = &rest[end + 1..];
    }
}

/// Where the first field ends; a delimiter within quotes does not end it.
#[inline]
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
