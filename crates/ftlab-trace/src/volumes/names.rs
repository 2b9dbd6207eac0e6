//! Volumes by name.

use rustc_hash::FxHashMap;

/// What a volume is called: its name if volumes have names, else its number.
pub(crate) fn name(names: &[String], volume: u32) -> String {
    names.get(volume as usize).cloned().unwrap_or_else(|| volume.to_string())
}

/// Numbers volumes in the order in which their names occur.
#[derive(Default)]
pub(crate) struct VolumeNames {
    names: Vec<String>,
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// The volume of the line before, which most often is that of this one.
    last: Vec<u8>,
    last_number: u32,
}

impl VolumeNames {
    /// The number of the volume called `name`.
    #[inline]
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        if self.last != name || self.names.is_empty() {
            self.look_up(name);
        }
        self.last_number
    }

    /// The number of the volume called `name`, if that has been given one.
    #[inline]
    pub(crate) fn known(&self, name: &[u8]) -> Option<u32> {
        if self.last == name && !self.names.is_empty() {
            return Some(self.last_number);
        }
        self.numbers.get(name).copied()
    }

    fn look_up(&mut self, name: &[u8]) {
        self.last.clear();
        self.last.extend_from_slice(name);
        if let Some(number) = self.numbers.get(name) {
            self.last_number = *number;
            return;
        }
        self.last_number = self.names.len() as u32;
        self.names.push(String::from_utf8_lossy(name).into_owned());
        self.numbers.insert(name.into(), self.last_number);
    }

    /// Every name, by number.
    pub(crate) fn as_slice(&self) -> &[String] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_first_mention() {
        let mut volumes = VolumeNames::default();
        assert_eq!(volumes.known(b""), None);
        let numbers: Vec<_> =
            ["", "b", "a", "b", ""].map(|name| volumes.number(name.as_bytes())).into();
        assert_eq!(numbers, [0, 1, 2, 1, 0]);
        assert_eq!(volumes.known(b"a"), Some(2));
        assert_eq!(volumes.known(b"c"), None);
        assert_eq!(volumes.as_slice(), ["", "b", "a"]);
        assert_eq!((name(volumes.as_slice(), 1), name(&[], 17)), ("b".into(), "17".into()));
    }
}
