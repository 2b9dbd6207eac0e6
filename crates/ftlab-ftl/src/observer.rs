//! Watching an FTL at work.

use crate::page::DriveState;
use crate::page::policy::{Policy, Victims};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Cause, Lpn, Merge, Ppn};

/// Declares what an observer is told, and lets two observers, and one that may be absent, be observers.
macro_rules! observer {
    (
        $(#[$about:meta])+
        pub trait $trait:ident {
            $($(#[$doc:meta])+ fn $event:ident($($name:ident: $type:ty),*);)+
        }
    ) => {
        $(#[$about])+
        pub trait $trait: Send {
            $(
                $(#[$doc])+
                #[inline]
                #[allow(unused_variables)]
                fn $event(&mut self $(, $name: $type)*) {}
            )+
        }

        /// Both are told everything, the first one first.
        impl<A: $trait, B: $trait> $trait for (A, B) {
            $(
                #[inline]
                fn $event(&mut self $(, $name: $type)*) {
                    self.0.$event($($name),*);
                    self.1.$event($($name),*);
                }
            )+
        }

        /// It is told everything, if it is there.
        impl<O: $trait> $trait for Option<O> {
            $(
                #[inline]
                fn $event(&mut self $(, $name: $type)*) {
                    if let Some(observer) = self {
                        observer.$event($($name),*);
                    }
                }
            )+
        }
    };
}

observer! {
    /// Is told what an FTL does, as it happens. The default methods do nothing and compile away; `()` is
    /// the observer that sees nothing, and a pair of observers is one.
    pub trait Observer {
        /// The host is about to write `lpn`; collections may have to make room first.
        fn host_write_begins(lpn: Lpn);

        /// The host wrote `lpn`, which went to `to`.
        fn host_write(lpn: Lpn, to: Ppn, stream: StreamId);

        /// Garbage collection moved `lpn`.
        fn relocation(lpn: Lpn, from: Ppn, to: Ppn, stream: StreamId);

        /// A collection begins, or what is left of one: choosing victims, moving their pages, erasing them.
        fn collection_begins();

        /// What began with [`Self::collection_begins`] is done.
        fn collection_ends();

        /// A step of a collection begins, after a host write.
        fn step_begins();

        /// What began with [`Self::step_begins`] is done.
        fn step_ends();

        /// A page-mapped FTL is about to choose victims: `policy` decides, and `drive` is what it decides on.
        fn choice_begins(policy: &dyn Policy, drive: &DriveState);

        /// What was chosen after [`Self::choice_begins`], perhaps nothing.
        fn choice_ends(victims: &Victims);

        /// `victim`, which holds `valid_pages` valid pages of `stream`, is about to be collected for this cause.
        fn collection(victim: BlockId, stream: StreamId, valid_pages: u32, cause: Cause);

        /// `block` has been erased for this cause.
        fn erase(block: BlockId, cause: Cause);

        /// A merge of a hybrid-mapped FTL copied these pages.
        fn merge(merge: Merge);

        /// All valid pages of a log block of a hybrid-mapped FTL were merged, into this many data blocks.
        fn emptied_by_merges(data_blocks: u32);

        /// The host trimmed `lpn`, which held data.
        fn trim(lpn: Lpn);
    }
}

impl Observer for () {}
