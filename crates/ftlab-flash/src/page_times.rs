//! How long an operation takes on each page of a word line.

use ftlab_spec::Value;
use std::fmt;

/// Pages of a word line at most: QLC has four bits a cell.
const PLACES_MAX: usize = 4;

/// Microseconds on the pages of a word line, from LSB to MSB: `850/2300`; or `200`, of all pages alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageTimes {
    us: [f64; PLACES_MAX],
    places: usize,
}

impl PageTimes {
    /// All pages take as long.
    pub const fn alike(us: f64) -> Self {
        Self { us: [us, 0.0, 0.0, 0.0], places: 1 }
    }

    /// How many pages a word line has; one if all pages are alike.
    pub fn places(&self) -> usize {
        self.places
    }

    /// Microseconds of the page at this place of its word line.
    pub(crate) fn at(&self, place: usize) -> f64 {
        if self.places == 1 { self.us[0] } else { self.us[place] }
    }

    /// Microseconds on average, as whole nanoseconds.
    pub fn mean_us(&self) -> f64 {
        let sum: f64 = self.us[..self.places].iter().sum();
        (sum / self.places as f64 * 1e3).round() / 1e3
    }
}

impl fmt::Display for PageTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us: Vec<_> = self.us[..self.places].iter().map(f64::to_string).collect();
        f.write_str(&us.join("/"))
    }
}

impl Value for PageTimes {
    fn expects() -> String {
        "a number in 0..=1e9, or 2 to 4 of them, of the pages of a word line, such as 850/2300"
            .into()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut times = Self { places: 0, ..Self::alike(0.0) };
        for part in text.split('/') {
            let us = part.parse().ok().filter(|us| (0.0..=1e9).contains(us))?;
            *times.us.get_mut(times.places)? = us;
            times.places += 1;
        }
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_they_are_typed_and_averaged_to_nanoseconds() {
        for (text, mean_us) in
            [("25", 25.0), ("850/2300", 1575.0), ("1/2/2", 1.667), ("1/2/3/4", 2.5)]
        {
            let times = PageTimes::parse(text).unwrap();
            assert_eq!((times.to_string().as_str(), times.mean_us()), (text, mean_us));
        }
        assert_eq!(PageTimes::parse("25.0"), Some(PageTimes::alike(25.0)));
        for wrong in ["", "1/", "-1", "2e9", "NaN", "1/2/3/4/5", "1:2"] {
            assert_eq!(PageTimes::parse(wrong), None, "{wrong}");
        }
    }
}
