//! The open files of each process and their positions, which `write` depends on.
//!
//! A descriptor names an open file, which has a position; copies of the descriptor (`dup`, `fork`)
//! share it. Threads share all descriptors and the working directory.

use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// An open file description, created by `open` and shared by `dup`.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: usize,
    pub(super) position: Cell<u64>,
    /// Writes go to the end (`O_APPEND`).
    pub(super) appends: bool,
    /// Writes are durable when they return (`O_SYNC`, `O_DSYNC`).
    pub(super) is_sync: bool,
}

type Descriptors = FxHashMap<i32, Rc<OpenFile>>;

/// State shared by the threads of a process.
#[derive(Debug, Clone, Default)]
pub(super) struct Process {
    descriptors: Rc<RefCell<Descriptors>>,
    directory: Rc<RefCell<String>>,
}

impl Process {
    pub(super) fn directory(&self) -> String {
        self.directory.borrow().clone()
    }

    pub(super) fn change_directory(&self, path: String) {
        *self.directory.borrow_mut() = path;
    }

    pub(super) fn get(&self, descriptor: i32) -> Option<Rc<OpenFile>> {
        self.descriptors.borrow().get(&descriptor).cloned()
    }

    /// Makes a descriptor refer to an open file, or to none of interest; returns the file that it
    /// referred to if this was its last descriptor.
    pub(super) fn set(&self, descriptor: i32, open: Option<Rc<OpenFile>>) -> Option<OpenFile> {
        let mut descriptors = self.descriptors.borrow_mut();
        let before = match open {
            Some(open) => descriptors.insert(descriptor, open),
            None => descriptors.remove(&descriptor),
        };
        before.and_then(Rc::into_inner)
    }

    /// Closes a range of descriptors; returns the open files that lost their last descriptor.
    pub(super) fn close_range(&self, first: i32, last: i32) -> Vec<OpenFile> {
        let mut descriptors = self.descriptors.borrow_mut();
        let closed: Vec<_> =
            descriptors.keys().copied().filter(|number| (first..=last).contains(number)).collect();
        closed.iter().filter_map(|number| Rc::into_inner(descriptors.remove(number)?)).collect()
    }
}

/// All processes, by thread number.
#[derive(Debug)]
pub(super) struct Processes {
    threads: FxHashMap<u32, Process>,
    /// The initial working directory of the command.
    directory: String,
}

impl Processes {
    pub(super) fn new(directory: String) -> Self {
        Self { threads: FxHashMap::default(), directory }
    }

    /// The process of a thread; an unknown thread is the command itself.
    pub(super) fn of(&mut self, thread: u32) -> Process {
        let process = self.threads.entry(thread).or_insert_with(|| {
            let process = Process::default();
            process.change_directory(self.directory.clone());
            process
        });
        process.clone()
    }

    /// `parent` created `child`, a thread that shares files and directory with it, or a process.
    pub(super) fn clone_thread(&mut self, parent: u32, child: u32, shares: Shares) {
        let parent = self.of(parent);
        let copy = Process {
            descriptors: if shares.files {
                parent.descriptors.clone()
            } else {
                Rc::new(RefCell::new(parent.descriptors.borrow().clone()))
            },
            directory: if shares.directory {
                parent.directory.clone()
            } else {
                Rc::new(RefCell::new(parent.directory()))
            },
        };
        // A known child appeared before the call that created it.
        self.threads.entry(child).or_insert(copy);
    }

    /// Whether the thread is known.
    pub(super) fn knows(&self, thread: u32) -> bool {
        self.threads.contains_key(&thread)
    }

    /// A thread ended; returns the files that are no longer open anywhere.
    pub(super) fn exit(&mut self, thread: u32) -> Vec<OpenFile> {
        let process = self.threads.remove(&thread);
        let descriptors = process.and_then(|process| Rc::into_inner(process.descriptors));
        let descriptors = descriptors.map(RefCell::into_inner).unwrap_or_default();
        descriptors.into_values().filter_map(Rc::into_inner).collect()
    }
}

/// What a new thread shares with the one that created it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    pub(super) files: bool,
    pub(super) directory: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(file: usize) -> Rc<OpenFile> {
        Rc::new(OpenFile { file, position: Cell::new(0), appends: false, is_sync: false })
    }

    #[test]
    fn a_child_shares_positions_and_a_thread_shares_descriptors() {
        let mut processes = Processes::new("/w".into());
        processes.of(1).set(3, Some(open(0)));
        processes.clone_thread(1, 2, Shares { files: false, directory: false });
        processes.clone_thread(1, 3, Shares { files: true, directory: true });
        processes.of(2).get(3).unwrap().position.set(7);
        assert_eq!(processes.of(1).get(3).unwrap().position.get(), 7);
        processes.of(3).set(4, Some(open(1)));
        processes.of(3).change_directory("/x".into());
        assert!(processes.of(1).get(4).is_some() && processes.of(2).get(4).is_none());
        assert_eq!(
            (processes.of(1).directory(), processes.of(2).directory()),
            ("/x".into(), "/w".into())
        );
    }

    #[test]
    fn a_file_is_closed_with_its_last_descriptor() {
        let mut processes = Processes::new("/".into());
        processes.of(1).set(3, Some(open(5)));
        let copy = processes.of(1).get(3);
        processes.of(1).set(4, copy);
        processes.clone_thread(1, 2, Shares { files: false, directory: false });
        assert!(processes.of(1).set(3, None).is_none());
        assert!(processes.of(1).close_range(4, i32::MAX).is_empty());
        assert!(processes.exit(1).is_empty());
        let closed: Vec<_> = processes.exit(2).iter().map(|open| open.file).collect();
        assert_eq!(closed, [5]);
    }
}
