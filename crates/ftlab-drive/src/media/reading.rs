//! Whatever is read is verified, and what is wrong is read again before anything is concluded from it.
//!
//! A read may fail, or return something that is not on the medium, and be right the next time: a cable, a
//! controller or a cache is at fault. So it is repeated a few times, with pauses, and past the page cache.

use crate::media::Backing;
use rustix::io::Errno;
use std::io;
use std::time::Duration;
use thiserror::Error;

/// How long to wait before what was wrong is read again.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(1), Duration::from_millis(5), Duration::from_millis(25)];

/// What the operating system says if a medium fails, and not something before it.
const MEDIA_ERRORS: [Errno; 7] = [
    Errno::IO,
    Errno::NODATA,
    Errno::ILSEQ,
    Errno::REMOTEIO,
    Errno::TIMEDOUT,
    Errno::BADMSG,
    Errno::UCLEAN,
];

/// Why something that was read cannot be used.
#[derive(Debug, Error)]
pub(crate) enum Unread {
    #[error("it cannot be read: {0}")]
    Failed(#[from] io::Error),
    #[error("what is read does not match its checksum")]
    Differs,
}

impl Unread {
    /// Whether it may be right the next time.
    fn may_pass(&self) -> bool {
        match self {
            Self::Failed(error) => is_media_error(error),
            Self::Differs => true,
        }
    }
}

/// Whether the medium has failed, and not something before it. One that ends early is one that returned less
/// than was asked for.
pub(crate) fn is_media_error(error: &io::Error) -> bool {
    let is_listed = |code| MEDIA_ERRORS.iter().any(|errno| errno.raw_os_error() == code);
    error.raw_os_error().map_or(error.kind() == io::ErrorKind::UnexpectedEof, is_listed)
}

/// Where to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Wherever it is: in the page cache, if it is there.
    Anywhere,
    /// On the medium; if that is wrong, the page cache may have it nevertheless.
    Medium,
}

/// Reads something that `read` verifies: once, and again after each pause as long as it is wrong.
#[inline]
pub(crate) fn with_retries<T>(
    backing: &dyn Backing,
    mut read: impl FnMut(Origin) -> Result<T, Unread>,
) -> Result<T, Unread> {
    match read(Origin::Anywhere) {
        Err(unread) if unread.may_pass() => again(backing, unread, read),
        read => read,
    }
}

#[cold]
fn again<T>(
    backing: &dyn Backing,
    mut wrong: Unread,
    mut read: impl FnMut(Origin) -> Result<T, Unread>,
) -> Result<T, Unread> {
    for pause in PAUSES {
        backing.pause(pause);
        match read(Origin::Medium) {
            Err(unread) if unread.may_pass() => wrong = unread,
            read => return read,
        }
    }
    Err(wrong)
}

/// Fills `data` with what is on the medium at `offset`, and returns what `verify` finds in it: nothing if it is
/// wrong.
pub(crate) fn read_medium<T>(
    backing: &dyn Backing,
    data: &mut [u8],
    offset: u64,
    mut verify: impl FnMut(&[u8]) -> Option<T>,
) -> Result<T, Unread> {
    with_retries(backing, |_| {
        backing.read_medium_at(data, offset)?;
        verify(data).ok_or(Unread::Differs)
    })
}

/// Fills `data` with what has no checksum: two reads must agree.
pub(crate) fn read_alike(
    backing: &dyn Backing,
    data: &mut [u8],
    offset: u64,
) -> Result<(), Unread> {
    let mut other = vec![0; data.len()];
    read_medium(backing, data, offset, |data| {
        backing.read_medium_at(&mut other, offset).ok().filter(|()| *data == *other)
    })
}

/// Tries each of `items` until it succeeds: those that are left again after each pause, all together. Returns
/// those that do not.
pub(crate) fn retry_all<T, E>(
    backing: &dyn Backing,
    mut items: Vec<T>,
    mut succeeds: impl FnMut(&T) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    let mut attempt = |items: Vec<T>| -> Result<Vec<T>, E> {
        let mut left = Vec::new();
        for item in items {
            if !succeeds(&item)? {
                left.push(item);
            }
        }
        Ok(left)
    };
    items = attempt(items)?;
    for pause in PAUSES {
        if items.is_empty() {
            break;
        }
        backing.pause(pause);
        items = attempt(items)?;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Gives these answers one after the other, and notes the pauses.
    struct Script(Mutex<(Vec<Option<u8>>, Vec<u64>)>);

    impl Script {
        fn new(answers: &[Option<u8>]) -> Self {
            Self(Mutex::new((answers.iter().rev().copied().collect(), Vec::new())))
        }

        fn pauses(&self) -> Vec<u64> {
            self.0.lock().unwrap().1.clone()
        }
    }

    impl Backing for Script {
        fn read_at(&self, data: &mut [u8], _: u64) -> io::Result<()> {
            let answer = self.0.lock().unwrap().0.pop().unwrap();
            data.fill(answer.ok_or(io::Error::from_raw_os_error(Errno::IO.raw_os_error()))?);
            Ok(())
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            unreachable!()
        }

        fn sync(&self) -> io::Result<()> {
            unreachable!()
        }

        fn bytes(&self) -> io::Result<u64> {
            unreachable!()
        }

        fn pause(&self, pause: Duration) {
            self.0.lock().unwrap().1.push(pause.as_millis() as u64);
        }
    }

    fn read(script: &Script) -> Result<u8, Unread> {
        read_medium(script, &mut [0; 3], 0, |data| Some(data[0]).filter(|byte| *byte == 7))
    }

    #[test]
    fn what_is_wrong_is_read_three_times_more() {
        let script = Script::new(&[Some(7)]);
        assert!(matches!(read(&script), Ok(7)));
        assert_eq!(script.pauses(), [0; 0]);
        let script = Script::new(&[Some(6), None, Some(0), Some(7)]);
        assert!(matches!(read(&script), Ok(7)));
        assert_eq!(script.pauses(), [1, 5, 25]);
        let script = Script::new(&[None, None, None, Some(9)]);
        assert!(matches!(read(&script), Err(Unread::Differs)));
        let script = Script::new(&[Some(1), Some(2), Some(3), None]);
        assert!(matches!(read(&script), Err(Unread::Failed(_))));
    }

    #[test]
    fn what_has_no_checksum_is_read_until_two_reads_agree() {
        let script = Script::new(&[Some(1), Some(2), Some(3), Some(3)]);
        let mut data = [0; 2];
        read_alike(&script, &mut data, 0).unwrap();
        assert_eq!((data, script.pauses()), ([3; 2], vec![1]));
    }

    #[test]
    fn those_that_fail_wait_together() {
        let script = Script::new(&[]);
        let mut tries = [0, 0, 0];
        let left = retry_all(&script, vec![0, 1, 2], |item: &usize| {
            tries[*item] += 1;
            Ok::<_, ()>(*item == 0 || *item == 1 && tries[1] == 3)
        });
        assert_eq!((left, tries, script.pauses()), (Ok(vec![2]), [1, 3, 4], vec![1, 5, 25]));
    }

    #[test]
    fn only_a_medium_that_fails_is_asked_again() {
        let errno = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        assert!(is_media_error(&errno(Errno::NODATA)));
        assert!(is_media_error(&io::ErrorKind::UnexpectedEof.into()));
        assert!(!is_media_error(&errno(Errno::BADF)));
        assert!(!is_media_error(&io::Error::other("the power is off")));
    }
}
