//! Panics of libraries over damaged files, which become errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread, now, would become an error of this crate.
///
/// A panic is reported by the hook of the process before anybody can catch it. A program whose hook
/// asks this leaves out the reports that only repeat, and confuse, the error that follows:
///
/// ```
/// let report = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !ftlab_trace::panic_becomes_error() {
///         report(panic);
///     }
/// }));
/// ```
pub fn panic_becomes_error() -> bool {
    CATCHING.get()
}

/// Runs `work`; what it says if it panics is the error. What `work` was changing must not be used after
/// that.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let outer = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.map_err(|panic| message(panic.as_ref()))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "its metadata is damaged".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_known_to_become_one() {
        assert!(!panic_becomes_error());
        assert_eq!(caught(panic_becomes_error), Ok(true));
        let nested =
            caught(|| caught::<()>(|| panic!("inner {}", 1)).map_err(|_| panic_becomes_error()));
        assert_eq!(nested, Ok(Err(true)));
        assert_eq!(caught::<()>(|| panic!("page {}", 7)).unwrap_err(), "page 7");
        assert!(!panic_becomes_error());
        let other = caught(|| std::thread::spawn(panic_becomes_error).join().unwrap());
        assert_eq!(other, Ok(false), "threads of their own report");
    }
}
