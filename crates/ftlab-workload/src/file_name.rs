//! Files as values of parameters.

/// The path of a file; empty for none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileName(String);

impl FileName {
    /// As it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl ftlab_spec::Value for FileName {
    fn expects() -> String {
        "the path of a file".into()
    }

    fn parse(text: &str) -> Option<Self> {
        Some(Self(text.into()))
    }
}
