//! Which machines may connect.

use crate::ServeError;
use ipnet::IpNet;
use std::net::IpAddr;
use std::str::FromStr;

/// Networks whose machines may connect over TCP; every machine may if there are none.
///
/// ```
/// let list: ftlab_serve::AllowList = "10.0.0.0/8,192.168.1.7".parse()?;
/// assert!(list.admits("10.1.2.3".parse().unwrap()));
/// assert!(!list.admits("192.168.1.8".parse().unwrap()));
/// # Ok::<(), ftlab_serve::ServeError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(Vec<IpNet>);

impl FromStr for AllowList {
    type Err = ServeError;

    /// Networks or addresses, separated by commas.
    fn from_str(text: &str) -> Result<Self, ServeError> {
        let network = |part: &str| {
            let alone = part.parse::<IpAddr>().map(IpNet::from);
            let network = part.parse::<IpNet>().or(alone);
            network.map_err(|_| ServeError::Network { text: part.to_owned() })
        };
        text.split(',').map(str::trim).map(network).collect::<Result<_, _>>().map(Self)
    }
}

impl AllowList {
    /// Whether a machine may connect. An IPv4 address in the form of IPv6 is one of IPv4.
    pub fn admits(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&peer))
    }

    /// Whether every machine may.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_both_versions_are_told_apart() {
        let list: AllowList = "127.0.0.0/8, 2001:db8::/32,10.0.0.9".parse().unwrap();
        for (peer, admitted) in [
            ("127.1.2.3", true),
            ("::ffff:127.0.0.1", true),
            ("10.0.0.9", true),
            ("10.0.0.10", false),
            ("2001:db8::1", true),
            ("2001:db9::1", false),
            ("::1", false),
        ] {
            assert_eq!(list.admits(peer.parse().unwrap()), admitted, "{peer}");
        }
        assert!(AllowList::default().admits("8.8.8.8".parse().unwrap()));
        for wrong in ["", "10.0.0.0/33", "example.org", "10.0.0.1,,10.0.0.2"] {
            let error = wrong.parse::<AllowList>().unwrap_err().to_string();
            assert!(error.contains("is no network"), "{error}");
        }
    }
}
