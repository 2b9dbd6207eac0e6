//! Memory that cannot be had.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::panic::PanicHookInfo;

/// The system's allocator. Where it has nothing left, the program ends with a message and status 1, instead of being
/// aborted without a remedy.
///
/// Whoever asks for much checks before that it is there; this is for what nobody can foresee, such as another program
/// that takes what was left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

// SAFETY: every call is handed to the system's allocator as it is, and what it returns is returned.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        there(unsafe { System.realloc(pointer, layout, new_size) }, new_size)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn there(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        end(bytes);
    }
    pointer
}

/// Ends the program, which has asked for `bytes`; nothing here takes memory.
#[cold]
fn end(bytes: usize) -> ! {
    let mut text = Text { bytes: [0; TEXT_BYTES], len: 0 };
    // A text that is too long is cut.
    let _ = message(&mut text, bytes);
    #[cfg(unix)]
    // SAFETY: the range is that of the text; nothing runs after it that could rely on what is half done.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.len);
        libc::_exit(1)
    }
    #[cfg(not(unix))]
    {
        std::process::abort()
    }
}

/// Ends the program likewise if what panics is a thread that had no memory to start; for the hook of panics.
pub fn end_if_no_thread_starts(panic: &PanicHookInfo<'_>) {
    // The standard library panics there, and has no other sign.
    if panic.location().is_some_and(|place| place.file().ends_with("stack_overflow.rs")) {
        end(SIGNAL_STACK_BYTES);
    }
}

/// What a thread asks for besides its stack, about.
const SIGNAL_STACK_BYTES: usize = 16 << 10;

fn message(text: &mut impl Write, bytes: usize) -> std::fmt::Result {
    write!(text, "error: there is no memory for {} KiB more", bytes.div_ceil(1024))?;
    if let Some(limit) = address_space() {
        write!(text, " within the {} MiB of ulimit -v", limit >> 20)?;
    }
    text.write_str(
        "; simulate a smaller drive (--logical), fewer FTLs at a time, with --threads 1, or raise the limit\n",
    )
}

/// The limit of the address space, if there is one.
#[cfg(unix)]
fn address_space() -> Option<libc::rlim_t> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives for the call.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

const TEXT_BYTES: usize = 512;

/// A text of limited length on the stack.
struct Text {
    bytes: [u8; TEXT_BYTES],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.len..];
        let part = text.len().min(room.len());
        room[..part].copy_from_slice(&text.as_bytes()[..part]);
        self.len += part;
        if part == text.len() { Ok(()) } else { Err(std::fmt::Error) }
    }
}

/// Lets the threads that start from here on share the heap of the first one, if the address space is limited: the C
/// library of GNU reserves 64 MiB of it for each thread otherwise. What a simulation does for each page takes no
/// memory, so that nobody waits.
pub fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if address_space().is_some() {
        // SAFETY: the call changes a number that is read when a thread first asks for memory.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_need_and_remedy() {
        let mut text = String::new();
        message(&mut text, 33 << 20).unwrap();
        assert!(text.starts_with("error: there is no memory for 33792 KiB more"), "{text}");
        assert!(text.contains("--logical") && text.ends_with("raise the limit\n"), "{text}");
        assert!(text.len() + 64 < TEXT_BYTES, "with a limit it is longer");
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        let mut text = Text { bytes: [0; TEXT_BYTES], len: 0 };
        text.write_str(&"x".repeat(TEXT_BYTES - 1)).unwrap();
        text.write_str("yz").unwrap_err();
        assert_eq!((text.len, text.bytes[TEXT_BYTES - 1]), (TEXT_BYTES, b'y'));
    }

    #[test]
    fn memory_comes_from_the_system_and_goes_back() {
        let layout = Layout::from_size_align(100, 64).unwrap();
        // SAFETY: the layout has a size, and each pointer is that of the call before.
        unsafe {
            let pointer = Allocator.alloc_zeroed(layout);
            assert!((0..100).all(|index| *pointer.add(index) == 0));
            pointer.write(7);
            let pointer = Allocator.realloc(pointer, layout, 200);
            assert_eq!((*pointer, pointer as usize % 64), (7, 0));
            Allocator.dealloc(pointer, Layout::from_size_align(200, 64).unwrap());
            let pointer = Allocator.alloc(layout);
            Allocator.dealloc(pointer, layout);
        }
        share_one_heap();
    }
}
