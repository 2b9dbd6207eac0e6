//! Access control of the dashboard.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the request of a connection has been admitted.
#[derive(Clone, Default)]
pub(super) struct Admitted(Arc<AtomicBool>);

impl Admitted {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Access to the dashboard: with the token, or, if there is none, for requests to a local name of
/// this machine. (A page elsewhere whose name is rebound to this machine uses that other name.)
pub(super) struct Guard {
    token: Option<String>,
}

impl Guard {
    pub(super) fn new(token: Option<String>) -> Self {
        Self { token }
    }

    fn admits(&self, headers: &HeaderMap, query: &str) -> Result<(), (StatusCode, &'static str)> {
        let Some(token) = &self.token else {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            let refusal =
                (StatusCode::FORBIDDEN, "use the address 127.0.0.1, or serve with --token-file\n");
            return if is_local(host) { Ok(()) } else { Err(refusal) };
        };
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        let in_query = query.split('&').find_map(|part| part.strip_prefix("token="));
        match bearer.or(in_query) {
            Some(shown) if is_equal(shown, token) => Ok(()),
            Some(_) => Err((StatusCode::UNAUTHORIZED, "the token is wrong\n")),
            None => Err((
                StatusCode::UNAUTHORIZED,
                "a token is required: Authorization: Bearer TOKEN\n",
            )),
        }
    }
}

/// Admits a request, or answers with the reason why not.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
    next: Next,
) -> Response {
    match guard.admits(request.headers(), request.uri().query().unwrap_or_default()) {
        Ok(()) => {
            admitted.0.store(true, Ordering::Relaxed);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Whether `host`, with or without a port, is a local name of this machine.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Compares in constant time.
fn is_equal(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(token: Option<&str>, header: (&'static str, &str), query: &str) -> bool {
        let headers = [(header.0.parse().unwrap(), header.1.parse().unwrap())];
        let guard = Guard::new(token.map(str::to_owned));
        guard.admits(&headers.into_iter().collect(), query).is_ok()
    }

    #[test]
    fn without_a_token_only_local_names_are_answered() {
        for host in
            ["127.0.0.1:80", "localhost", "LOCALHOST", "Localhost:8080", "[::1]:9", "127.8.8.8"]
        {
            assert!(admits(None, ("host", host), ""), "{host}");
        }
        for host in ["example.org", "10.0.0.1:80", "127.0.0.1.example.org", "localhost.example", ""]
        {
            assert!(!admits(None, ("host", host), ""), "{host}");
        }
    }

    #[test]
    fn with_a_token_nothing_else_counts() {
        let token = Some("secret");
        assert!(admits(token, ("authorization", "Bearer secret"), ""));
        assert!(admits(token, ("host", "example.org"), "a=1&token=secret"));
        for wrong in ["Bearer secre", "Bearer secret2", "Basic secret", "Bearer "] {
            assert!(!admits(token, ("authorization", wrong), ""), "{wrong}");
        }
        assert!(!admits(token, ("host", "127.0.0.1"), ""));
    }
}
