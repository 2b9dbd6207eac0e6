//! By what response times are told apart.

use ftlab_spec::Value;
use std::fmt;

/// By what response times are told apart, beside the operation: any of `size/tenant/stream`, or `none`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct By {
    /// By the pages of a request, in powers of two.
    pub size: bool,
    /// By who asks: the jobs of a file of fio.
    pub tenant: bool,
    /// By the stream (placement handle) that a request names.
    pub stream: bool,
}

impl By {
    /// Whether they are not.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    fn parts(self) -> impl Iterator<Item = &'static str> {
        let parts = [("size", self.size), ("tenant", self.tenant), ("stream", self.stream)];
        parts.into_iter().filter_map(|(name, is_there)| is_there.then_some(name))
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.parts().collect();
        if parts.is_empty() { f.write_str("none") } else { f.write_str(&parts.join("/")) }
    }
}

impl Value for By {
    fn expects() -> String {
        "none, or any of size, tenant and stream, such as size/stream".into()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut by = Self::default();
        if text == "none" {
            return Some(by);
        }
        for part in text.split('/') {
            let of = match part {
                "size" => &mut by.size,
                "tenant" => &mut by.tenant,
                "stream" => &mut by.stream,
                _ => return None,
            };
            if std::mem::replace(of, true) {
                return None;
            }
        }
        Some(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_of_three_once_each() {
        for text in ["none", "size", "tenant", "stream", "size/tenant", "size/tenant/stream"] {
            assert_eq!(By::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(By::parse("stream/size").unwrap().to_string(), "size/stream");
        assert!(By::parse("none").unwrap().is_none());
        for wrong in ["", "all", "size/size", "none/size", "size/", "Size"] {
            assert_eq!(By::parse(wrong), None, "{wrong}");
        }
    }
}
