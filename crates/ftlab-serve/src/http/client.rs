//! A minimal HTTP client for dashboards.

use crate::ServeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Timeout of a dashboard.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum size of an answer.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// The answer of a dashboard at `path` below `url`, such as `http://127.0.0.1:8080`.
pub fn get(url: &str, path: &str, token: Option<&str>) -> Result<String, ServeError> {
    ask(url, path, token, None)
}

/// Asks with a GET, or posts a JSON document.
fn ask(
    url: &str,
    path: &str,
    token: Option<&str>,
    posted: Option<&str>,
) -> Result<String, ServeError> {
    let why = |why: String| ServeError::Dashboard { url: url.to_owned(), why };
    let host = url
        .strip_prefix("http://")
        .map(|rest| rest.trim_end_matches('/'))
        .filter(|host| !host.is_empty() && !host.contains('/'))
        .ok_or_else(|| why("it is not of the form http://HOST:PORT".to_owned()))?;
    let with_port = if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let authorization =
        token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let (method, length, body) = match posted {
        Some(body) => {
            let length = body.len();
            (
                "POST",
                format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
                body,
            )
        }
        None => ("GET", String::new(), ""),
    };
    let request =
        format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\n{authorization}{length}\r\n{body}");
    let ask = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(&with_port)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| why(error.to_string()))?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| why("it does not answer as a dashboard".to_owned()))?;
    match head.split(' ').nth(1) {
        Some("200" | "202") => Ok(body.to_owned()),
        Some("401") => {
            Err(why("it requires a token; give --token-file FILE, or set FTLAB_TOKEN".to_owned()))
        }
        _ => {
            let refused = serde_json::from_str::<Value>(body).ok();
            let reason = refused.as_ref().and_then(|body| body["error"].as_str());
            let status = || format!("it answers {}", head.lines().next().unwrap_or_default());
            Err(why(reason.map_or_else(status, str::to_owned)))
        }
    }
}

/// What a dashboard answers, parsed as JSON.
pub fn get_json<T: DeserializeOwned>(
    url: &str,
    path: &str,
    token: Option<&str>,
) -> Result<T, ServeError> {
    parsed(url, &get(url, path, token)?)
}

/// Posts a JSON document; the answer, parsed as JSON.
pub fn post_json<T: DeserializeOwned>(
    url: &str,
    path: &str,
    token: Option<&str>,
    body: &impl Serialize,
) -> Result<T, ServeError> {
    let body = serde_json::to_string(body)
        .map_err(|error| ServeError::Dashboard { url: url.to_owned(), why: error.to_string() })?;
    parsed(url, &ask(url, path, token, Some(&body))?)
}

fn parsed<T: DeserializeOwned>(url: &str, text: &str) -> Result<T, ServeError> {
    serde_json::from_str(text).map_err(|error| ServeError::Dashboard {
        url: url.to_owned(),
        why: format!("its answer is not that of a drive: {error}"),
    })
}
