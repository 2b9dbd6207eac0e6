//! The text of a log, in whichever encoding a shell wrote it.

/// Text in UTF-8, or in UTF-16 with a byte order mark, as PowerShell writes it; any other line is taken as Latin-1, in
/// which older locales print. Byte order marks are left out, also those of files that were appended.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        _ => str::from_utf8(bytes).map_or_else(|_| by_line(bytes), str::to_owned),
    };
    if text.contains('\u{feff}') { text.replace('\u{feff}', "") } else { text }
}

/// Each line in its own encoding.
fn by_line(bytes: &[u8]) -> String {
    let latin_1 = |line: &[u8]| line.iter().copied().map(char::from).collect();
    let line = |line| str::from_utf8(line).map_or_else(|_| latin_1(line), str::to_owned);
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "HBMW: 1\u{a0}234\n";
        let utf_16 = |unit: fn(u16) -> [u8; 2]| {
            let units = text.encode_utf16();
            [0xfeff].into_iter().chain(units).flat_map(unit).collect::<Vec<u8>>()
        };
        let latin_1: Vec<u8> = text.chars().map(|c| c as u8).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            utf_16(u16::to_le_bytes),
            utf_16(u16::to_be_bytes),
            latin_1,
        ] {
            assert_eq!(decoded(&bytes), text, "{bytes:?}");
        }
        assert_eq!(decoded("a\u{feff}b".as_bytes()), "ab");
        let mixed = ["1\u{202f}234\n".as_bytes(), b"1\xa0234\n"].concat();
        assert_eq!(decoded(&mixed), "1\u{202f}234\n1\u{a0}234\n");
    }
}
