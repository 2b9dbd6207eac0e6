//! Names of counters as words, whatever is between them.

use std::ops::Range;

/// A word of a line, in lower case, and where it is.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: Range<usize>,
}

/// The runs of letters and digits of a line.
pub(super) fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(Word { text: line[from..at].to_lowercase(), at: from..at });
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// A name as words with a blank between them: `Data_Units_Written` and `Data Units Written` are the same.
pub(super) fn plain(name: &str) -> String {
    let words: Vec<_> = words(name).into_iter().map(|word| word.text).collect();
    words.join(" ")
}

/// A name without what is in brackets at the end, such as a unit.
pub(super) fn without_brackets(name: &str) -> &str {
    split_brackets(name).map_or(name.trim(), |(before, _)| before.trim_end())
}

/// What is in those brackets.
pub(super) fn brackets(name: &str) -> Option<&str> {
    split_brackets(name).map(|(_, inner)| inner)
}

fn split_brackets(name: &str) -> Option<(&str, &str)> {
    let name = name.trim();
    let round = name.strip_suffix(')').and_then(|inner| inner.rsplit_once('('));
    round.or_else(|| name.strip_suffix(']').and_then(|inner| inner.rsplit_once('[')))
}

/// How many words from `start` on a name takes, if it is there: its words in a row, with nothing but blanks,
/// underscores, hyphens and brackets between them.
pub(super) fn found(line: &str, words: &[Word], start: usize, name: &str) -> Option<usize> {
    let mut count = 0;
    for part in name.split(' ') {
        let word = words.get(start + count)?;
        let gap = match count {
            0 => "",
            _ => &line[words[start + count - 1].at.end..word.at.start],
        };
        if word.text != part || !gap.chars().all(is_within_name) {
            return None;
        }
        count += 1;
    }
    Some(count)
}

fn is_within_name(c: char) -> bool {
    c.is_whitespace() || matches!(c, '_' | '-' | '(' | ')' | ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_their_words_are_joined() {
        for line in
            ["1 Data Units Written: 5", "1 data_units_written : 5", "1 DATA-UNITS (written)"]
        {
            let words = words(line);
            assert_eq!(found(line, &words, 1, "data units written"), Some(3), "{line}");
            assert_eq!(found(line, &words, 0, "data units written"), None, "{line}");
            assert_eq!(found(line, &words, 1, "data units"), Some(2), "{line}");
        }
        let line = "data: units";
        assert_eq!(found(line, &words(line), 0, "data units"), None);
        assert_eq!(plain("Physical Media Units Written - TLC"), "physical media units written tlc");
        assert_eq!(without_brackets("NAND Writes TLC (Bytes)"), "NAND Writes TLC");
        assert_eq!(without_brackets("Physical (NAND) bytes"), "Physical (NAND) bytes");
    }
}
