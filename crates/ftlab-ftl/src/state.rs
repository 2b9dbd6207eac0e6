//! The state of an FTL as bytes, to continue from it later as if nothing had happened in between.
//!
//! An FTL is a function of its parameters and of the host's operations so far. What it was constructed
//! with is constructed again; [`State`] is the rest, and one method both saves and restores it, so that the
//! two cannot differ. Numbers are little-endian.
//!
//! ```
//! use ftlab_flash::{Geometry, Lpn, NoPayload};
//! use ftlab_ftl::page::DriveConfig;
//! use ftlab_ftl::{Restored, Saved, registry};
//!
//! let config = DriveConfig::new(Geometry::new(72, 128, 4096)?, 64 * 128, 4);
//! let build = || registry::build_page_mapped(&"2r-fifo".parse()?, config, NoPayload, ());
//! let mut ftl = build()?;
//! ftl.write(Lpn(7), &[])?;
//! let mut bytes = Saved::default();
//! ftl.transfer(&mut bytes)?;
//!
//! let mut again = build()?;
//! again.transfer(&mut Restored::new(&bytes.0))?;
//! again.set_mapping(Lpn(0), ftl.drive().mapping())?;
//! assert_eq!(again.counters(), ftl.counters());
//! again.check()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use ftlab_flash::{BlockId, Lpn};
use std::collections::VecDeque;
use std::io;
use thiserror::Error;

/// Where state is saved, or restored from.
pub trait Archive {
    /// Saves `bytes`, or overwrites them with what was saved in their place.
    fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()>;

    /// Saves the name of the field that comes next, or refuses state that has another one here. An archive that does
    /// not outlive the program keeps no names.
    fn name(&mut self, _name: &'static str) -> Result<(), StateError> {
        Ok(())
    }

    /// A list begins, whose elements are alike: the names of their fields are not kept.
    fn list_begins(&mut self) {}

    /// What follows is a field of what holds the list.
    fn list_ends(&mut self) {}
}

/// Saves into memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved(pub Vec<u8>);

impl Archive for Saved {
    fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Restores from memory.
#[derive(Debug)]
pub struct Restored<'a>(&'a [u8]);

impl<'a> Restored<'a> {
    /// From what [`Saved`] holds.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}

impl Archive for Restored<'_> {
    fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        io::Read::read_exact(&mut self.0, bytes)
    }
}

/// Why state could not be saved or restored.
#[derive(Debug, Error)]
pub enum StateError {
    /// The archive failed, or came to an end.
    #[error(transparent)]
    Archive(#[from] io::Error),
    /// A table of another size than this FTL has: the state of another one.
    #[error("a table of {found} entries was saved, and this FTL has {expected}")]
    Length {
        /// Entries saved.
        found: u64,
        /// Entries there are.
        expected: u64,
    },
    /// A field of another name than this version has here: the state of another one.
    #[error("the field {found:?} was saved where this version has {expected:?}")]
    Name {
        /// The name saved.
        found: String,
        /// The name there is.
        expected: &'static str,
    },
    /// A value that nothing stands for.
    #[error("{0} is not a valid value in the saved state")]
    Value(u64),
}

/// What changes while an FTL runs.
pub trait State {
    /// Saves it, or replaces it by what was saved of a twin: one with the same parameters.
    ///
    /// What was restored is trusted: whoever keeps archives guards them by a checksum.
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError>;

    /// Saves many of them, or replaces them.
    fn transfer_slice(slice: &mut [Self], archive: &mut dyn Archive) -> Result<(), StateError>
    where
        Self: Sized,
    {
        archive.list_begins();
        let transferred = slice.iter_mut().try_for_each(|one| one.transfer(archive));
        archive.list_ends();
        transferred
    }

    /// One to be overwritten, where lists of them grow.
    fn blank() -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Implements [`State`] for a struct by naming every field: those that change, and after `constant`
/// those that do not; after `then` what is done once all are there; after `blank` one to be overwritten, where lists
/// of them grow. Constants that the struct depends on come first, in brackets.
macro_rules! state {
    ([$($generics:tt)+] $type:ty { $($field:ident),* $(,)? } $(constant $($constant:ident),+)?) => {
        impl<$($generics)+> $crate::State for $type {
            fn transfer(
                &mut self,
                _archive: &mut dyn $crate::Archive,
            ) -> Result<(), $crate::StateError> {
                let Self { $($field,)* $($($constant: _,)+)? } = self;
                $(
                    _archive.name(stringify!($field))?;
                    $crate::State::transfer($field, _archive)?;
                )*
                Ok(())
            }
        }
    };
    (
        $type:ident { $($field:ident),* $(,)? } $(constant $($constant:ident),+)? $(then $then:ident)?
        $(blank $blank:expr)?
    ) => {
        impl $crate::State for $type {
            fn transfer(
                &mut self,
                _archive: &mut dyn $crate::Archive,
            ) -> Result<(), $crate::StateError> {
                let Self { $($field,)* $($($constant: _,)+)? } = self;
                $(
                    _archive.name(stringify!($field))?;
                    $crate::State::transfer($field, _archive)?;
                )*
                $(self.$then();)?
                Ok(())
            }

            $(
                fn blank() -> Option<Self> {
                    Some($blank)
                }
            )?
        }
    };
}
pub(crate) use state;

/// How many bytes numbers go through at once.
const CHUNK_BYTES: usize = 4096;

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl State for $number {
            fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
                let mut bytes = self.to_le_bytes();
                archive.bytes(&mut bytes)?;
                *self = <$number>::from_le_bytes(bytes);
                Ok(())
            }

            fn transfer_slice(
                slice: &mut [Self],
                archive: &mut dyn Archive,
            ) -> Result<(), StateError> {
                const BYTES: usize = size_of::<$number>();
                let mut buffer = [0; CHUNK_BYTES];
                for numbers in slice.chunks_mut(CHUNK_BYTES / BYTES) {
                    let bytes = &mut buffer[..numbers.len() * BYTES];
                    for (number, bytes) in numbers.iter().zip(bytes.as_chunks_mut().0) {
                        *bytes = number.to_le_bytes();
                    }
                    archive.bytes(bytes)?;
                    for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
                        *number = <$number>::from_le_bytes(*bytes);
                    }
                }
                Ok(())
            }

            fn blank() -> Option<Self> {
                Some(Default::default())
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, i32, i64, f32, f64);

/// What is a number of four bytes inside.
macro_rules! wrapped_numbers {
    ($($wrapper:path),+) => {$(
        impl State for $wrapper {
            fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
                self.0.transfer(archive)
            }

            fn transfer_slice(
                slice: &mut [Self],
                archive: &mut dyn Archive,
            ) -> Result<(), StateError> {
                let mut buffer = [0; CHUNK_BYTES / size_of::<u32>()];
                for wrapped in slice.chunks_mut(buffer.len()) {
                    let numbers = &mut buffer[..wrapped.len()];
                    for (number, wrapped) in numbers.iter_mut().zip(&*wrapped) {
                        *number = wrapped.0;
                    }
                    u32::transfer_slice(numbers, archive)?;
                    for (number, wrapped) in numbers.iter().zip(wrapped) {
                        wrapped.0 = *number;
                    }
                }
                Ok(())
            }

            fn blank() -> Option<Self> {
                Some($wrapper(0))
            }
        }
    )+};
}

wrapped_numbers!(BlockId, Lpn);

impl State for bool {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let mut number = u8::from(*self);
        number.transfer(archive)?;
        *self = match number {
            0 => false,
            1 => true,
            _ => return Err(StateError::Value(number.into())),
        };
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(false)
    }
}

impl State for usize {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let mut number = *self as u64;
        number.transfer(archive)?;
        *self = Self::try_from(number).map_err(|_| StateError::Value(number))?;
        Ok(())
    }
}

impl<T: State> State for Option<T> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let mut is_some = self.is_some();
        is_some.transfer(archive)?;
        if !is_some {
            *self = None;
        } else if self.is_none() {
            *self = T::blank();
        }
        self.iter_mut().try_for_each(|one| one.transfer(archive))
    }
}

impl<T: State + ?Sized> State for Box<T> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        (**self).transfer(archive)
    }
}

impl<A: State, B: State> State for (A, B) {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        self.0.transfer(archive)?;
        self.1.transfer(archive)
    }

    fn blank() -> Option<Self> {
        A::blank().zip(B::blank())
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        T::transfer_slice(self, archive)
    }
}

impl<T: State> State for Vec<T> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let expected = self.len();
        let mut len = expected;
        len.transfer(archive)?;
        if len != expected && T::blank().is_none() {
            let (found, expected) = (len as u64, expected as u64);
            return Err(StateError::Length { found, expected });
        }
        self.truncate(len);
        let mut done = 0;
        // A wrong length comes to the archive's end before it takes much memory.
        while done < len {
            let end = self.len().max(len.min(done + CHUNK_BYTES));
            self.extend((self.len()..end).map_while(|_| T::blank()));
            T::transfer_slice(&mut self[done..end], archive)?;
            done = end;
        }
        Ok(())
    }
}

impl<T: State> State for VecDeque<T> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let capacity = self.capacity();
        let mut list = Vec::from(std::mem::take(self));
        let result = list.transfer(archive);
        *self = list.into();
        self.reserve(capacity.saturating_sub(self.len()));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored<T: State>(mut from: T, mut to: T) -> Result<T, StateError> {
        let mut saved = Saved::default();
        from.transfer(&mut saved)?;
        let mut archive = Restored::new(&saved.0);
        to.transfer(&mut archive)?;
        assert!(archive.rest().is_empty());
        Ok(to)
    }

    #[test]
    fn what_is_restored_is_what_was_saved() {
        let long: Vec<u32> = (0..10_000).collect();
        assert_eq!(restored(long.clone(), vec![]).unwrap(), long);
        assert_eq!(restored(vec![1_u64], vec![2, 3]).unwrap(), [1]);
        assert_eq!(restored(Some(BlockId(3)), None).unwrap(), Some(BlockId(3)));
        assert_eq!(restored(None, Some(BlockId(3))).unwrap(), None);
        let floats = restored([1.5_f32, f32::INFINITY], [0.0; 2]).unwrap();
        assert_eq!(floats.map(f32::to_bits), [1.5, f32::INFINITY].map(f32::to_bits));
        let many: Vec<_> = (0..3000).map(BlockId).collect();
        assert_eq!(restored(many.clone(), vec![]).unwrap(), many);
        let list: VecDeque<_> = [5, 2, 9].map(BlockId).into();
        assert_eq!(restored(list.clone(), VecDeque::new()).unwrap(), list);
    }

    #[test]
    fn what_cannot_be_restored_is_an_error() {
        let error =
            |bytes: &[u8]| vec![7_u32].transfer(&mut Restored::new(bytes)).unwrap_err().to_string();
        assert_eq!(error(&u64::MAX.to_le_bytes()), "failed to fill whole buffer");
        assert_eq!(error(&[1]), "failed to fill whole buffer");
        let error = true.transfer(&mut Restored::new(&[2])).unwrap_err().to_string();
        assert_eq!(error, "2 is not a valid value in the saved state");
        let error = restored(vec![1_usize], vec![]).unwrap_err().to_string();
        assert_eq!(error, "a table of 1 entries was saved, and this FTL has 0");
    }
}
