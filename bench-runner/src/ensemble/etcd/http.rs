//! One question over HTTP: one short connection, one question, one answer until the server closes.
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::ensemble::zookeeper::four_letter::{to_the_end, within};

/// The body of `path` (as `/metrics`, `/health`) at `address`, whatever the status: an unhealthy node tells so with 503.
/// Asked in HTTP/1.0, so that the answer comes in one piece and the end of the stream is its end.
///
/// # Errors
///
/// The node does not listen, closes early, or has not answered in full within `limit` ([`io::ErrorKind::TimedOut`]).
pub async fn get(address: SocketAddr, path: &str, limit: Duration) -> io::Result<String> {
    ask(address, get_request(&address.to_string(), path), limit).await
}

/// The request for a page.
pub(crate) fn get_request(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n")
}

/// As [`get`], with a body in JSON to be posted.
///
/// # Errors
///
/// As [`get`].
pub async fn post(address: SocketAddr, path: &str, body: &str, limit: Duration) -> io::Result<String> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Length: {length}\r\n");
    ask(address, format!("{head}Content-Type: application/json\r\n\r\n{body}"), limit).await
}

/// Sends the request and reads the answer's body.
async fn ask(address: SocketAddr, request: String, limit: Duration) -> io::Result<String> {
    let exchange = async { exchange(TcpStream::connect(address).await?, &request).await };
    within(limit, exchange).await
}

/// As [`get`], with a request of one's own, on a connection that is open already.
///
/// # Errors
///
/// As [`get`].
pub(crate) async fn ask_on(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
    limit: Duration,
) -> io::Result<String> {
    within(limit, exchange(stream, request)).await
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> io::Result<String> {
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let answer = to_the_end(stream).await?;
    let answer = String::from_utf8_lossy(&answer);
    match answer.split_once("\r\n\r\n") {
        Some((_, body)) => Ok(body.to_owned()),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "the answer has no end of headers")),
    }
}
