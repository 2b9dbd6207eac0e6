//! A dashboard, metrics and an API over HTTP: `ftlab drive serve FILE --http 127.0.0.1:PORT`.
//!
//! | path | what |
//! |---|---|
//! | `/` | the dashboard: a single self-contained page | | `/api/status` | the complete status as of the last second | | `/api/events` | the same, every second, as server-sent events | | `/api/history` | the samples of the last quarter of an hour | | `/api/blocks` | the state of every erase block | | `/api/smart` | health, with the names of nvme-cli | | `/api/openapi.json` | the description of all of these (OpenAPI 3.1) |
//! | `/metrics` | for Prometheus |
//!
//! It is read-only, but for `POST /api/copy` where the server allows copies. It answers only this machine, unless there is a token, which every client must
//! then send: as `Authorization: Bearer TOKEN`, or as `?token=TOKEN` where a browser cannot set
//! headers.

mod client;
mod connections;
mod copies;
mod guard;
mod metrics;
mod openapi;
#[cfg(test)]
mod tests;

pub use client::{get, get_json, post_json};
pub use copies::{Copies, CopyOrder, CopyStatus};

use crate::{AllowList, Monitor, ServeError, Smart};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get as at;
use axum::{Json, Router, middleware};
use futures_util::stream::{Stream, unfold};
use guard::Guard;
use serde::Serialize;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot, watch};

/// Interval between samples.
const SECOND: Duration = Duration::from_secs(1);

/// Memory for large answers that their clients have not received, in KiB.
const ANSWERS_KIB: usize = 64 << 10;

/// Content security policy of the page: run its own script, and query this server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

/// A running dashboard, on a thread of its own.
pub struct Dashboard {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// State shared by all requests.
#[derive(Clone)]
struct Shared {
    monitor: Arc<Monitor>,
    /// Changes at the end of each second.
    seconds: watch::Receiver<u64>,
    /// KiB that large answers may still take.
    room_kib: Arc<Semaphore>,
    /// Makes copies of the drive, if it may.
    copies: Option<Arc<Copies>>,
}

/// Who is served, and what they may do.
#[derive(Default)]
pub struct DashboardOptions {
    /// What every client must send, if there is one.
    pub token: Option<String>,
    /// The machines that are served.
    pub allow: AllowList,
    /// Makes copies for clients.
    pub copies: Option<Arc<Copies>>,
}

/// Whether a token can be part of a URL without escaping.
fn is_plain(token: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    !token.is_empty() && token.bytes().all(plain)
}

impl Dashboard {
    /// Serves the data of `monitor` at `address`; with a token, only to clients that send it.
    pub fn start(
        address: SocketAddr,
        options: DashboardOptions,
        monitor: Arc<Monitor>,
    ) -> Result<Self, ServeError> {
        let token = &options.token;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(ServeError::NoToken { address: address.to_string() });
        }
        if token.as_deref().is_some_and(|token| !is_plain(token)) {
            return Err(ServeError::Token);
        }
        let failed = |error| ServeError::io(format!("listening at {address}"), error);
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ServeError::io("starting the dashboard", error))?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, options, monitor) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("http".to_owned()).spawn(serve);
        let thread = thread.map_err(|error| ServeError::io("starting a thread", error))?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Its address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // The receiver is gone if it has ended by itself.
        self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, options: DashboardOptions, monitor: Arc<Monitor>) {
    let DashboardOptions { token, allow, copies } = options;
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let (tick, seconds) = watch::channel(0);
    let room_kib = Arc::new(Semaphore::new(ANSWERS_KIB));
    let shared = Shared { monitor: Arc::clone(&monitor), seconds, room_kib, copies };
    let sampling = async move {
        let mut interval = tokio::time::interval(SECOND);
        loop {
            interval.tick().await;
            monitor.sample();
            tick.send_modify(|second| *second += 1);
        }
    };
    let router = router(shared)
        .layer(middleware::from_fn_with_state(Arc::new(Guard::new(token)), guard::check));
    tokio::select! {
        () = sampling => {}
        () = connections::serve(listener, allow, router) => {}
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/", at(page))
        .route("/api/status", at(async |State(all): State<Shared>| Json(all.monitor.latest())))
        .route(
            "/api/history",
            at(async |State(all): State<Shared>| large(&all, &all.monitor.history())),
        )
        .route(
            "/api/blocks",
            at(async |State(all): State<Shared>| large(&all, &all.monitor.block_map())),
        )
        .route("/api/smart", at(async |State(all): State<Shared>| Json(smart(&all.monitor))))
        .route("/api/copy", at(copy_status).post(order_copy))
        .route("/api/events", at(events))
        .route("/api/openapi.json", at(async || Json(openapi::document())))
        .route("/metrics", at(metrics))
        .with_state(shared)
}

/// An answer that may be large; if too much is waiting for its clients already, they are asked to come
/// back.
fn large(all: &Shared, value: &impl Serialize) -> Response {
    let Ok(json) = serde_json::to_vec(value) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let kib = json.len().div_ceil(1 << 10).min(ANSWERS_KIB) as u32;
    let Ok(room) = Arc::clone(&all.room_kib).try_acquire_many_owned(kib) else {
        let busy = "too many answers are waiting for their clients; try again in half a minute\n";
        return (StatusCode::SERVICE_UNAVAILABLE, busy).into_response();
    };
    // The room is held until the client has received the answer.
    let answer = unfold((Some(Bytes::from(json)), room), async |(json, room)| {
        json.map(|json| (Ok::<_, Infallible>(json), (None, room)))
    });
    ([(CONTENT_TYPE, "application/json")], Body::from_stream(answer)).into_response()
}

async fn page() -> impl IntoResponse {
    let page = include_str!("page.html")
        .replace("/* page.css */", include_str!("page.css"))
        .replace("/* charts.js */", include_str!("charts.js"))
        .replace("/* page.js */", include_str!("page.js"));
    ([(CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-store")], Html(page))
}

fn smart(monitor: &Monitor) -> Smart {
    Smart::new(&monitor.latest(), &monitor.block_map())
}

async fn copy_status(State(all): State<Shared>) -> Json<CopyStatus> {
    Json(all.copies.map_or_else(CopyStatus::default, |copies| copies.status()))
}

/// Only JSON is accepted, which a page from elsewhere cannot send without asking first.
async fn order_copy(
    State(all): State<Shared>,
    Json(order): Json<CopyOrder>,
) -> Result<(StatusCode, Json<CopyStatus>), copies::Refused> {
    let copies = all.copies.ok_or_else(copies::Refused::everything)?;
    copies.order(&order).map(|status| (StatusCode::ACCEPTED, Json(status)))
}

async fn metrics(State(all): State<Shared>) -> impl IntoResponse {
    let text = metrics::text(&all.monitor.latest());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

/// The status, immediately and then at the end of each second.
async fn events(
    State(mut all): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    all.seconds.mark_changed();
    let stream = unfold(all, async |mut all| {
        all.seconds.changed().await.ok()?;
        // A status consists of numbers and text, which JSON can represent.
        let event = Event::default().json_data(all.monitor.latest()).unwrap_or_default();
        Some((Ok(event), all))
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}
