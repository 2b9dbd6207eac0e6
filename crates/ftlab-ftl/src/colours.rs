//! Colours of FTLs, the same in every figure and on every page.

/// Colours that colour-blind readers can tell apart (Okabe and Ito, 2008), as red, green and blue.
pub const PALETTE: [[u8; 3]; 7] = [
    [213, 94, 0],
    [0, 114, 178],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [0, 0, 0],
];

/// FTLs with a colour of their own: those that are compared most. Those of one row have the same one, and are
/// rarely compared with each other.
const OWN: [&[&str]; PALETTE.len()] = [
    &["1r-greedy", "page", "single", "fmax"],
    &["2r-fifo", "fast", "dac-greedy"],
    &["2r++", "faster", "fdp-freq"],
    &["sepbit", "wolf", "lfs-cb", "bast"],
    &["2r-greedy", "dac-cb", "nvme-fdp", "oracle-rate", "kast"],
    &["midas", "mbf", "fifo", "last"],
    &["hazard", "fk", "oracle"],
];

/// How an FTL is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Index into [`PALETTE`].
    pub colour: usize,
    /// The pattern of its line: 0 without dashes; more if others of the figure have the same colour.
    pub dash: usize,
}

/// The styles of FTLs, or of anything else, that are drawn together: an FTL has its own colour unless
/// another has taken that, which goes to the one that is named without parameters, or else to the first; then
/// the next free one; and if there is none, one that is taken, with dashes.
pub fn styles<S: AsRef<str>>(names: &[S]) -> Vec<Style> {
    let wanted: Vec<Option<usize>> = names.iter().map(|name| own(name.as_ref())).collect();
    let mut uses = [0; PALETTE.len()];
    let mut owners = vec![None; names.len()];
    for plain in [true, false] {
        for ((name, wanted), owner) in names.iter().zip(&wanted).zip(&mut owners) {
            if let Some(colour) = wanted.filter(|_| is_plain(name.as_ref()) == plain)
                && uses[colour] == 0
            {
                *owner = Some(take(&mut uses, colour));
            }
        }
    }
    let free: Vec<usize> = (0..PALETTE.len()).filter(|colour| uses[*colour] == 0).collect();
    let mut others = free.into_iter().chain((0..PALETTE.len()).cycle());
    let style = |own: Option<Style>| {
        own.unwrap_or_else(|| take(&mut uses, others.next().unwrap_or_default()))
    };
    owners.into_iter().map(style).collect()
}

/// One more line of a colour.
fn take(uses: &mut [usize; PALETTE.len()], colour: usize) -> Style {
    uses[colour] += 1;
    Style { colour, dash: uses[colour] - 1 }
}

/// The name of an FTL, without its parameters and victims.
fn stem(name: &str) -> &str {
    name.split([':', '/', ' ']).next().unwrap_or(name)
}

fn is_plain(name: &str) -> bool {
    stem(name) == name
}

/// The colour of an FTL, whatever its parameters and victims.
fn own(name: &str) -> Option<usize> {
    let stem = stem(name);
    OWN.iter().position(|names| names.contains(&stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(names: &[&str]) -> Vec<(usize, usize)> {
        styles(names).iter().map(|style| (style.colour, style.dash)).collect()
    }

    #[test]
    fn an_ftl_has_its_colour_in_any_company() {
        assert_eq!(colours(&["2r++"]), [(2, 0)]);
        assert_eq!(
            colours(&["sepbit", "1r-greedy", "2r++:blk-util=0.4"]),
            [(3, 0), (0, 0), (2, 0)]
        );
    }

    #[test]
    fn whoever_comes_later_gives_way() {
        assert_eq!(
            colours(&["2r-fifo", "other", "2r-fifo:blk-util=0.4"]),
            [(1, 0), (0, 0), (2, 0)]
        );
        // But whoever has no parameters goes before.
        assert_eq!(colours(&["faster:isolation=off", "faster"]), [(0, 0), (2, 0)]);
    }

    #[test]
    fn no_two_of_twenty_look_alike() {
        let names: Vec<_> = (0..20).map(|n| format!("f{n}")).collect();
        let styles = styles(&names);
        for (index, style) in styles.iter().enumerate() {
            assert!(!styles[..index].contains(style), "{index}");
        }
        assert!(styles[6].dash == 0 && styles[7].dash == 1);
    }
}
