//! What is traced of a device.

use super::event_format::EventFormat;
use super::ring_buffer::SubBuffer;

/// The events of a device, and their layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Events {
    /// The trace point, for the provenance.
    pub(super) name: &'static str,
    /// A request issued to the device.
    pub(super) issue: EventFormat,
    /// A request that the driver requeues; it will be issued again.
    pub(super) requeue: Option<EventFormat>,
    pub(super) layout: SubBuffer,
}
