//! Structures of the standard as plain types, and their little-endian bytes.
//!
//! Sections are those of the NVM Express Base Specification 2.1, the NVM Command Set Specification 1.1 and the
//! NVMe/TCP Transport Specification 1.1. Fields have names of their own where the standard's are abbreviations;
//! the comment gives the abbreviation.

mod command;
mod discovery;
mod fields;
mod identify;
mod log;
mod pdu;
mod placement;
mod status;

pub(crate) use command::{Command, Completion, SGL_IN_CAPSULE, SGL_TRANSPORT, Sgl, opcode};
pub(crate) use discovery::{ConnectData, DISCOVERY_NQN, DiscoveryEntry, discovery_log};
pub(crate) use fields::{Reader, Writer};
pub(crate) use identify::{
    Descriptor, IdentifyController, IdentifyNamespace, controller_of_nvm, descriptors,
    independent_namespace, number_list,
};
pub(crate) use log::{
    EnduranceLog, ErrorEntry, ExtendedSmart, SmartLog, effects, firmware, sanitize_status, support,
};
pub(crate) use pdu::{
    Data, Header, InitRequest, InitResponse, ReadyToTransfer, Termination, fatal, flag, kind,
};
pub(crate) use placement::{
    Event, RuhStatus, configurations, event_log, event_types, ruh_status, statistics, usage,
};
pub(crate) use status::Status;
