//! Copies of a drive that is being served: `POST /api/copy` begins one, `GET /api/copy` says how far it is.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ftlab_drive::Drive;
use ftlab_spec::Spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What to copy to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CopyOrder {
    /// The name of the new file, in the directory that the server allows.
    pub name: String,
    /// The FTL of the copy; that of the drive if there is none.
    pub ftl: Option<String>,
}

/// The last copy.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct CopyStatus {
    /// Its file; none if no copy has been ordered.
    pub file: Option<String>,
    /// Whether it is being made.
    pub is_running: bool,
    /// Logical pages that have been dealt with.
    pub done_pages: u32,
    /// Logical pages of the drive.
    pub logical_pages: u32,
    /// Pages copied, once it is finished.
    pub copied_pages: Option<u32>,
    /// Of these, pages that could not be read: the copy holds zeros there.
    pub unreadable_pages: Vec<u32>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Makes copies of a drive into one directory, one at a time.
pub struct Copies {
    drive: Arc<Drive>,
    directory: PathBuf,
    state: Arc<Mutex<CopyStatus>>,
    is_over: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Copies {
    /// Copies of `drive` into files of `directory`.
    pub fn new(drive: Arc<Drive>, directory: PathBuf) -> Self {
        Self {
            drive,
            directory,
            state: Arc::default(),
            is_over: Arc::default(),
            thread: Mutex::default(),
        }
    }

    pub(super) fn status(&self) -> CopyStatus {
        locked(&self.state).clone()
    }

    /// Begins a copy.
    pub(super) fn order(&self, order: &CopyOrder) -> Result<CopyStatus, Refused> {
        let bad = |why: String| Refused(StatusCode::BAD_REQUEST, why);
        let name = Path::new(&order.name);
        if name.file_name().is_none_or(|file| file != name.as_os_str()) {
            return Err(bad(format!("{:?} is not the name of a file", order.name)));
        }
        let ftl = order.ftl.as_deref().map(str::parse::<Spec>).transpose();
        let ftl = ftl.map_err(|error| bad(error.to_string()))?;
        let path = self.directory.join(name);
        if path.exists() {
            return Err(bad(format!("{} exists; choose another name", path.display())));
        }
        let mut state = locked(&self.state);
        if state.is_running {
            let why = "a copy is being made already; wait until it is finished".to_owned();
            return Err(Refused(StatusCode::CONFLICT, why));
        }
        *state = CopyStatus {
            file: Some(path.display().to_string()),
            is_running: true,
            logical_pages: self.drive.logical_pages(),
            ..CopyStatus::default()
        };
        let (drive, shared) = (Arc::clone(&self.drive), Arc::clone(&self.state));
        let is_over = Arc::clone(&self.is_over);
        let copy = move || {
            let copied = drive.copy(&path, ftl, |pages| {
                locked(&shared).done_pages = pages;
                !is_over.load(Ordering::Relaxed)
            });
            let mut state = locked(&shared);
            state.is_running = false;
            match copied {
                Ok(copied) => {
                    state.copied_pages = Some(copied.pages);
                    state.unreadable_pages = copied.unreadable.iter().map(|lpn| lpn.0).collect();
                }
                Err(error) => state.error = Some(error.to_string()),
            }
        };
        let spawned = std::thread::Builder::new().name("copy".to_owned()).spawn(copy);
        match spawned {
            Ok(thread) => *locked(&self.thread) = Some(thread),
            Err(error) => {
                *state = CopyStatus::default();
                let why = format!("cannot start a thread: {error}");
                return Err(Refused(StatusCode::SERVICE_UNAVAILABLE, why));
            }
        }
        Ok(state.clone())
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = locked(&self.thread).take() {
            // A panic has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// Why there is no copy.
pub(super) struct Refused(StatusCode, String);

impl Refused {
    /// The server makes none.
    pub(super) fn everything() -> Self {
        let why = "this server makes no copies; start it with --copies DIR".to_owned();
        Self(StatusCode::FORBIDDEN, why)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(serde_json::json!({ "error": self.1 }))).into_response()
    }
}
