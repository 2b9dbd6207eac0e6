//! What Identify returns (base 2.1, section 5.1.13; NVM command set 1.1, section 4.1.5).

use super::fields::Writer;

/// All but one of the structures have this size.
pub(crate) const BYTES: usize = 4096;

/// Identify Controller, CNS 01h (base 2.1). What is not named is 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct IdentifyController {
    /// SN.
    pub(crate) serial: String,
    /// MN.
    pub(crate) model: String,
    /// FR.
    pub(crate) firmware: String,
    /// CMIC.
    pub(crate) sharing: u8,
    /// MDTS: the most bytes of a transfer, as a power of two of 4 KiB.
    pub(crate) transfer_max: u8,
    /// CNTLID.
    pub(crate) id: u16,
    /// VER.
    pub(crate) version: u32,
    /// OAES.
    pub(crate) events: u32,
    /// CTRATT.
    pub(crate) attributes: u32,
    /// CNTRLTYPE: 1 for I/O, 2 for discovery.
    pub(crate) kind: u8,
    /// NVMSR.
    pub(crate) reports: u8,
    /// OACS.
    pub(crate) admin_commands: u16,
    /// ACL and AERL: aborts and event requests at once, minus one.
    pub(crate) at_once: u8,
    /// FRMW.
    pub(crate) firmware_slots: u8,
    /// LPA.
    pub(crate) log_pages: u8,
    /// ELPE: entries of the error log, minus one.
    pub(crate) error_entries: u8,
    /// KAS: the unit of the keep alive timer, in 100 ms.
    pub(crate) keep_alive: u16,
    /// TNVMCAP.
    pub(crate) capacity_bytes: u128,
    /// SANICAP.
    pub(crate) sanitize: u32,
    /// ENDGIDMAX.
    pub(crate) endurance_groups: u16,
    /// MAXCMD.
    pub(crate) commands_max: u16,
    /// NN and MNAN.
    pub(crate) namespaces: u32,
    /// ONCS.
    pub(crate) io_commands: u16,
    /// FNA.
    pub(crate) format: u8,
    /// VWC.
    pub(crate) write_cache: u8,
    /// OCFS.
    pub(crate) copy_formats: u16,
    pub(crate) sgls: u32,
    /// SUBNQN.
    pub(crate) subsystem: String,
    /// IOCCSZ, in bytes.
    pub(crate) command_capsule_bytes: u32,
}

impl IdentifyController {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        let mut fields = Writer(&mut bytes);
        fields.padded(4, 20, &self.serial).padded(24, 40, &self.model);
        fields.padded(64, 8, &self.firmware).u8(76, self.sharing).u8(77, self.transfer_max);
        fields.u16(78, self.id).u32(80, self.version).u32(92, self.events);
        fields.u32(96, self.attributes).u8(111, self.kind).u8(253, self.reports);
        fields.u16(256, self.admin_commands).u8(258, self.at_once).u8(259, self.at_once);
        fields.u8(260, self.firmware_slots).u8(261, self.log_pages).u8(262, self.error_entries);
        fields.u128(280, self.capacity_bytes).u16(320, self.keep_alive).u32(328, self.sanitize);
        fields.u16(340, self.endurance_groups);
        // Entries of queues have 64 and 16 bytes: the least, and the most.
        fields.u8(512, 0x66).u8(513, 0x44).u16(514, self.commands_max).u32(516, self.namespaces);
        fields.u16(520, self.io_commands).u8(524, self.format).u8(525, self.write_cache);
        fields.u16(534, self.copy_formats).u32(536, self.sgls).u32(540, self.namespaces);
        let name = self.subsystem.as_bytes();
        fields.bytes(768, &name[..name.len().min(255)]);
        // A response has 16 bytes; one descriptor of data; any controller can be asked for.
        fields.u32(1792, self.command_capsule_bytes / 16).u32(1796, 1).u8(1803, 1);
        bytes
    }
}

/// Identify Namespace, CNS 00h (NVM command set 1.1). What is not named is 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct IdentifyNamespace {
    /// NSZE and NCAP.
    pub(crate) blocks: u64,
    /// NUSE.
    pub(crate) used_blocks: u64,
    /// The size of a block, as a power of two.
    pub(crate) block_shift: u8,
    /// NSFEAT.
    pub(crate) features: u8,
    /// NMIC.
    pub(crate) sharing: u8,
    /// DLFEAT.
    pub(crate) deallocation: u8,
    /// NOIOB and NPWG to NPDA: the preferred unit of reading, writing and deallocating, in blocks.
    pub(crate) unit_blocks: u16,
    /// NVMCAP.
    pub(crate) capacity_bytes: u128,
    /// MSSRL and MCL: the most blocks of a source, and of a copy.
    pub(crate) copy_blocks_max: u16,
    /// MSRC: the most sources of a copy, minus one.
    pub(crate) copy_sources: u8,
    /// NSATTR.
    pub(crate) attributes: u8,
    /// ENDGID.
    pub(crate) endurance_group: u16,
    /// NGUID.
    pub(crate) id: [u8; 16],
}

impl IdentifyNamespace {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        let mut fields = Writer(&mut bytes);
        fields.u64(0, self.blocks).u64(8, self.blocks).u64(16, self.used_blocks);
        fields.u8(24, self.features).u8(30, self.sharing).u8(33, self.deallocation);
        fields.u16(46, self.unit_blocks).u128(48, self.capacity_bytes);
        let unit = self.unit_blocks.saturating_sub(1);
        for at in [64, 66, 68, 70, 72] {
            fields.u16(at, unit);
        }
        fields.u16(74, self.copy_blocks_max).u32(76, self.copy_blocks_max.into());
        fields.u8(80, self.copy_sources).u8(99, self.attributes);
        fields.u16(102, self.endurance_group).bytes(104, &self.id);
        // One format of blocks: no metadata, the best performance.
        fields.u8(130, self.block_shift);
        bytes
    }
}

/// An entry of the list of a namespace's names, CNS 03h (base 2.1).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Descriptor {
    /// NGUID.
    Unique([u8; 16]),
    Uuid([u8; 16]),
    /// CSI: the command set; 0 is NVM.
    CommandSet(u8),
}

/// A namespace's names.
pub(crate) fn descriptors(list: &[Descriptor]) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    let mut at = 0;
    for entry in list {
        let (kind, name): (u8, &[u8]) = match entry {
            Descriptor::Unique(id) => (2, id),
            Descriptor::Uuid(id) => (3, id),
            Descriptor::CommandSet(set) => (4, std::slice::from_ref(set)),
        };
        let mut fields = Writer(&mut bytes[at..]);
        fields.u8(0, kind).u8(1, name.len() as u8).bytes(4, name);
        at += 4 + name.len();
    }
    bytes
}

/// I/O Command Set Independent Identify Namespace, CNS 08h (base 2.1).
pub(crate) fn independent_namespace(namespace: &IdentifyNamespace, is_protected: bool) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    let mut fields = Writer(&mut bytes);
    fields.u8(1, namespace.sharing).u8(8, u8::from(is_protected));
    fields.u16(12, namespace.endurance_group);
    // NSTAT: ready.
    fields.u8(14, 1);
    bytes
}

/// Identify Controller of the NVM command set, CNS 06h (NVM command set 1.1): the limits of a
/// dataset management command, in ranges and in blocks.
pub(crate) fn controller_of_nvm(ranges: u8, blocks: u32) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    Writer(&mut bytes).u8(3, ranges).u32(4, blocks);
    bytes
}

/// A list of numbers: of namespaces (4 bytes each), or of controllers or endurance groups after their
/// count (2 bytes each).
pub(crate) fn number_list(wide: bool, numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    if wide {
        for (field, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        return bytes;
    }
    let mut count = 0;
    for (field, number) in bytes.chunks_exact_mut(2).skip(1).zip(numbers) {
        field.copy_from_slice(&(number as u16).to_le_bytes());
        count += 1;
    }
    Writer(&mut bytes).u16(0, count);
    bytes
}
