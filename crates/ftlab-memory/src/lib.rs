//! The two hints that hot paths give to the machine, and what happens where it has no memory left; the only unsafe
//! code of FTLs and workloads.
//!
//! Both hints change speed and never a result. The benchmark `ftlab-bench` shows what they bring: on a
//! large drive the mapping tables exceed every cache and every TLB, and a flash page program is
//! mostly the wait for one mapping entry.
#![allow(unsafe_code)]

mod allocator;

pub use allocator::{Allocator, end_if_no_thread_starts, share_one_heap};

/// Asks the processor to fetch `slice[index]` for a write that comes soon; out of range is ignored.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect on memory or registers and cannot fault, and the address
        // is that of a live element.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// A table of `len` copies of `value`, in huge pages where the system offers them.
pub fn table<T: Copy + Default>(len: usize, value: T) -> Vec<T> {
    // Filled only after the advice, so that the first touch of each page is a huge one.
    let mut table = Vec::with_capacity(len);
    advise_huge_pages(&mut table);
    table.resize(len, value);
    table
}

/// Asks for huge pages under the spare capacity of an empty vector.
fn advise_huge_pages<T>(vector: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        const HUGE_PAGE_BYTES: usize = 2 << 20;
        let spare = vector.spare_capacity_mut();
        let bytes = size_of_val(spare);
        let start = spare.as_mut_ptr() as usize;
        let aligned = start.next_multiple_of(HUGE_PAGE_BYTES);
        let end = start + bytes;
        if aligned < end {
            // SAFETY: the range lies within this vector's own allocation, and MADV_HUGEPAGE changes
            // how it is backed, never its content. A refusal is harmless, so the result is unused.
            unsafe {
                libc::madvise(aligned as *mut libc::c_void, end - aligned, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = vector;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_holds_its_value_everywhere() {
        for len in [0, 1, 5_000_000] {
            let table = table(len, 7_u32);
            assert_eq!((table.len(), table.iter().all(|&x| x == 7)), (len, true));
            prefetch(&table, len / 2);
            prefetch(&table, len);
        }
    }
}
