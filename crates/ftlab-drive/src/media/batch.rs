//! Batches of the journal: a header, records of 8 bytes, and the data of pages that could not be
//! written to their places yet. `docs/notes/drive-format.md` has the layout.

use crate::media::fields::{FieldReader, FieldWriter};
use crate::media::slots::Replacement;
use ftlab_flash::{BlockId, Lpn, Ppn};
use uuid::Uuid;

pub(super) const MAGIC: u32 = u32::from_le_bytes(*b"jrnl");

pub(super) const HEADER_BYTES: usize = 72;

/// Offset of the checksum, which covers the whole batch except itself.
pub(super) const CHECKSUM_AT: usize = 68;

/// In place of a page number: the record after it is a trim.
pub(super) const TRIM: u32 = u32::MAX;

/// In place of a page number: the record after it names a page whose data follows.
pub(super) const PAGE: u32 = u32::MAX - 1;

/// In place of a page number: the record after it names a page that could not be read, and its place.
pub(super) const UNREADABLE: u32 = u32::MAX - 2;

/// In place of a page number: a slot took the place of another; two records follow.
pub(super) const REPLACEMENT: u32 = u32::MAX - 3;

/// In place of a page number: the next record, and those after it in the batch, are writes of a stream.
pub(super) const STREAM: u32 = u32::MAX - 4;

/// In place of a page number: the host moved a placement handle to a fresh unit.
pub(super) const RENEWAL: u32 = u32::MAX - 5;

/// The content of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// The host wrote a page of a stream, whose data has this checksum.
    Write { lpn: Lpn, checksum: u32, stream: u16 },
    /// The host trimmed pages.
    Trim { first: Lpn, pages: u32 },
    /// The host moved a placement handle to a fresh unit.
    Renewal { handle: u16 },
    /// A version of a page that may not yet be in its place.
    Page { lpn: Lpn, checksum: u32, data: &'a [u8] },
    /// A version that a collection could not read, and its place.
    Unreadable { lpn: Lpn, place: Ppn },
    /// A spare slot took the place of a block's.
    Replacement(Replacement),
}

impl Record<'_> {
    /// Whether it is an operation of the host.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Trim { .. } | Self::Renewal { .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) bytes: u32,
    pub(crate) number: u64,
    pub(crate) previous: u64,
    pub(crate) session: u64,
    /// Operations before its first.
    pub(crate) operations: u64,
    /// The number of operations that were durable, with the pages that they wrote and moved in their places.
    pub(crate) in_place: u64,
    /// The number of operations that a sync had made durable, in their places or in the journal.
    pub(crate) flushed: u64,
    /// Bytes of metadata that were written since the drive was created.
    pub(crate) metadata_bytes: u64,
    pub(crate) records: u32,
}

impl Header {
    pub(super) fn encode(&self, bytes: &mut [u8]) {
        let mut fields = FieldWriter::new(bytes);
        fields.u32(MAGIC).u32(self.bytes).u64(self.number).u64(self.previous).u64(self.session);
        fields.u64(self.operations).u64(self.in_place).u64(self.flushed);
        fields.u64(self.metadata_bytes).u32(self.records);
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = FieldReader::new(bytes);
        (fields.u32()? == MAGIC).then_some(())?;
        Some(Self {
            bytes: fields.u32()?,
            number: fields.u64()?,
            previous: fields.u64()?,
            session: fields.u64()?,
            operations: fields.u64()?,
            in_place: fields.u64()?,
            flushed: fields.u64()?,
            metadata_bytes: fields.u64()?,
            records: fields.u32()?,
        })
    }
}

/// The checksum of a structure of a drive: of its UUID, followed by the bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u32);

impl Seed {
    pub(crate) fn new(uuid: Uuid) -> Self {
        Self(crc32c::crc32c(uuid.as_bytes()))
    }

    pub(crate) fn checksum(self, bytes: &[u8]) -> u32 {
        crc32c::crc32c_append(self.0, bytes)
    }

    pub(super) fn batch(self, bytes: &[u8]) -> u32 {
        let head = self.checksum(&bytes[..CHECKSUM_AT]);
        crc32c::crc32c_append(head, &bytes[HEADER_BYTES..])
    }
}

pub(super) fn verify(seed: Seed, batch: &[u8]) -> bool {
    seed.batch(batch).to_le_bytes() == batch[CHECKSUM_AT..HEADER_BYTES]
}

pub(crate) struct Records<'a> {
    fields: FieldReader<'a>,
    left: u32,
    page_bytes: usize,
    stream: u16,
}

impl<'a> Records<'a> {
    pub(super) fn new(batch: &'a [u8], header: &Header, page_bytes: usize) -> Self {
        let fields = FieldReader::new(&batch[HEADER_BYTES..]);
        Self { fields, left: header.records, page_bytes, stream: 0 }
    }

    fn record(&mut self) -> Option<Record<'a>> {
        let (mut first, mut second) = (self.fields.u32()?, self.fields.u32()?);
        if first == STREAM {
            self.stream = u16::try_from(second).ok()?;
            (first, second) = (self.fields.u32()?, self.fields.u32()?);
        }
        Some(match first {
            TRIM => {
                let first = Lpn(self.fields.u32()?);
                self.fields.u32()?;
                Record::Trim { first, pages: second }
            }
            RENEWAL => Record::Renewal { handle: u16::try_from(second).ok()? },
            PAGE => {
                let (lpn, checksum) = (Lpn(self.fields.u32()?), self.fields.u32()?);
                Record::Page { lpn, checksum, data: self.fields.take(self.page_bytes)? }
            }
            UNREADABLE => {
                let (lpn, place) = (Lpn(self.fields.u32()?), Ppn(self.fields.u32()?));
                Record::Unreadable { lpn, place }
            }
            REPLACEMENT => {
                let (block, slot) = (BlockId(self.fields.u32()?), self.fields.u32()?);
                Record::Replacement(Replacement { erase: self.fields.u64()?, block, slot })
            }
            lpn => Record::Write { lpn: Lpn(lpn), checksum: second, stream: self.stream },
        })
    }
}

impl<'a> Iterator for Records<'a> {
    /// Inner `None` if the batch is inconsistent.
    type Item = Option<Record<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.record())
    }
}

/// Operations of a batch; `None` if its records are inconsistent.
pub(super) fn operations(batch: &[u8], header: &Header, page_bytes: usize) -> Option<u64> {
    let mut operations = 0;
    for record in Records::new(batch, header, page_bytes) {
        operations += u64::from(record?.is_operation());
    }
    Some(operations)
}

/// Parses bytes as a batch with a correct checksum.
pub(crate) fn fuzz(bytes: &[u8]) {
    const PAGE_BYTES: usize = 512;
    if let Some(header) = Header::decode(bytes)
        && bytes.len() >= HEADER_BYTES
    {
        let mut encoded = vec![0; HEADER_BYTES];
        header.encode(&mut encoded);
        assert_eq!(Header::decode(&encoded), Some(header));
        let counted = Records::new(bytes, &header, PAGE_BYTES).map_while(|record| record);
        let counted = counted.filter(Record::is_operation).count() as u64;
        let all = operations(bytes, &header, PAGE_BYTES);
        assert!(all.is_none_or(|all| all == counted));
    }
}
