//! A minimal HTTP client for dashboards.

use crate::ServeError;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Timeout of a dashboard.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum size of an answer.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// The answer of a dashboard at `path` below `url`, such as `http://127.0.0.1:8080`.
pub fn get(url: &str, path: &str, token: Option<&str>) -> Result<String, ServeError> {
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
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n{authorization}\r\n");
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
        Some("200") => Ok(body.to_owned()),
        Some("401") => {
            Err(why("it requires a token; give --token-file FILE, or set FTLAB_TOKEN".to_owned()))
        }
        _ => Err(why(format!("it answers {}", head.lines().next().unwrap_or_default()))),
    }
}

/// The same, parsed as JSON.
pub fn get_json<T: DeserializeOwned>(
    url: &str,
    path: &str,
    token: Option<&str>,
) -> Result<T, ServeError> {
    let text = get(url, path, token)?;
    serde_json::from_str(&text).map_err(|error| ServeError::Dashboard {
        url: url.to_owned(),
        why: format!("its answer is not that of a drive: {error}"),
    })
}
