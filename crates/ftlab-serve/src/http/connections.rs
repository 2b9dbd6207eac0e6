//! The connections of a dashboard: each answers one request, with a time limit for every part of it,
//! and when there are too many, the oldest one makes way that has not been admitted.

use super::guard::Admitted;
use crate::AllowList;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio_io_timeout::TimeoutStream;

/// Clients at a time.
const CONNECTIONS_MAX: usize = 64;

/// Time to send the header of a request.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// Time in which a client must receive something, if there is anything to send.
const REPLY_PATIENCE: Duration = Duration::from_secs(30);

/// Lines of a header, and the bytes of all of them.
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 16 << 10;

/// Accepts connections for ever, and answers their requests.
pub(super) async fn serve(listener: TcpListener, allow: AllowList, router: Router) {
    let mut connections = Connections::default();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if allow.admits(peer.ip()) => {
                connections.make_room(CONNECTIONS_MAX);
                connections.begin(stream, router.clone());
            }
            Ok(_) => {}
            Err(_) => {
                // Too many open files, or the client has left.
                connections.make_room(connections.0.len());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// The connections that are open, the oldest first.
#[derive(Default)]
struct Connections(Vec<(Admitted, AbortHandle)>);

impl Connections {
    fn make_room(&mut self, most: usize) {
        self.0.retain(|(_, task)| !task.is_finished());
        if self.0.is_empty() || self.0.len() < most {
            return;
        }
        let stranger = self.0.iter().position(|(admitted, _)| !admitted.get());
        let (_, task) = self.0.remove(stranger.unwrap_or(0));
        task.abort();
    }

    fn begin(&mut self, stream: TcpStream, router: Router) {
        let admitted = Admitted::default();
        let service = TowerToHyperService::new(router.layer(Extension(admitted.clone())));
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(REPLY_PATIENCE));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_PATIENCE)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEADER_BYTES_MAX)
            .keep_alive(false)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        // Whatever is wrong with a client is its own affair.
        let task = tokio::spawn(async move { drop(connection.await) });
        self.0.push((admitted, task.abort_handle()));
    }
}
