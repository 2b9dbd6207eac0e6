//! Connecting and discovery (base 2.1, sections 6.3, 5.1.12.3.1 and 5.1.12.3.1.1).

use super::fields::{Reader, Writer};

/// The name of the discovery service of every machine (base 2.1, section 4.7).
pub(crate) const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";

/// The most bytes of a qualified name.
const NQN_BYTES: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ConnectData {
    /// HOSTID.
    pub(crate) host_id: u128,
    /// CNTLID: all ones for any controller.
    pub(crate) controller: u16,
    /// SUBNQN.
    pub(crate) subsystem: String,
    /// HOSTNQN.
    pub(crate) host: String,
}

impl ConnectData {
    pub(crate) const BYTES: usize = 1024;
    /// Where the number of the controller is.
    pub(crate) const CONTROLLER_AT: u16 = 16;
    /// Where the name of the subsystem is.
    pub(crate) const SUBSYSTEM_AT: u16 = 256;
    /// Where the name of the host is.
    pub(crate) const HOST_AT: u16 = 512;

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let fields = Reader(bytes);
        Self {
            host_id: fields.u128(0),
            controller: fields.u16(Self::CONTROLLER_AT.into()),
            subsystem: fields.text(Self::SUBSYSTEM_AT.into(), NQN_BYTES).to_owned(),
            host: fields.text(Self::HOST_AT.into(), NQN_BYTES).to_owned(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::BYTES];
        let mut fields = Writer(&mut bytes);
        fields.u128(0, self.host_id).u16(Self::CONTROLLER_AT.into(), self.controller);
        for (at, name) in [(Self::SUBSYSTEM_AT, &self.subsystem), (Self::HOST_AT, &self.host)] {
            fields.bytes(at.into(), &name.as_bytes()[..name.len().min(NQN_BYTES - 1)]);
        }
        bytes
    }
}

/// An entry of the discovery log: where a subsystem is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiscoveryEntry {
    /// Whether this is the discovery service itself.
    pub(crate) is_discovery: bool,
    /// SUBNQN.
    pub(crate) subsystem: String,
    /// TRADDR, an address of IPv4 or IPv6.
    pub(crate) address: std::net::IpAddr,
    /// TRSVCID.
    pub(crate) port: u16,
    /// ASQSZ.
    pub(crate) admin_queue: u16,
}

/// The discovery log: a header of 1,024 bytes and as many for each entry.
pub(crate) fn discovery_log(entries: &[DiscoveryEntry]) -> Vec<u8> {
    const BYTES: usize = 1024;
    /// NVMe/TCP.
    const TCP: u8 = 3;
    const DISCOVERY: u8 = 3;
    const STORAGE: u8 = 2;
    let mut log = vec![0; BYTES * (1 + entries.len())];
    Writer(&mut log).u64(0, 1).u64(8, entries.len() as u64);
    for (entry, bytes) in entries.iter().zip(log[BYTES..].chunks_exact_mut(BYTES)) {
        let mut fields = Writer(bytes);
        let kind = if entry.is_discovery { DISCOVERY } else { STORAGE };
        fields.u8(0, TCP).u8(1, if entry.address.is_ipv4() { 1 } else { 2 }).u8(2, kind);
        // A secure channel is not required; flow control of queues may be disabled.
        fields.u8(3, 2 | 1 << 2).u16(4, 0).u16(6, u16::MAX).u16(8, entry.admin_queue);
        fields.padded(32, 32, &entry.port.to_string());
        let name = entry.subsystem.as_bytes();
        fields.bytes(256, &name[..name.len().min(NQN_BYTES - 1)]);
        fields.padded(512, 256, &entry.address.to_string());
    }
    log
}
