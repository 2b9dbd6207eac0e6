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
        /// One or more blanks.
        Blank = "blank",
    }
}
