//! What separates the fields of a line.

ftlab_spec::choices! {
    /// What stands between two fields.
    pub enum Delimiter {
        /// What the first line has.
        Auto = "auto",
        /// A comma.
        Comma = "comma",
        /// A semicolon.
        Semicolon = "semicolon",
        /// A tab.
        Tab = "tab",
        /// An upright stroke.
        Pipe = "pipe",
        /// One or more blanks.
        Blank = "blank",
    }
}

impl Delimiter {
    /// This one, or, if it is `Auto`, what separates the fields of a file whose first line this is: the first of tab,
    /// semicolon, comma, `|` that it has, else blanks.
    pub(super) fn or_of(self, line: &[u8]) -> Self {
        if self == Self::Auto { Self::of(line) } else { self }
    }

    fn of(line: &[u8]) -> Self {
        [(b'\t', Self::Tab), (b';', Self::Semicolon), (b',', Self::Comma), (b'|', Self::Pipe)]
            .into_iter()
            .find(|(byte, _)| line.contains(byte))
            .map_or(Self::Blank, |(_, delimiter)| delimiter)
    }
}
