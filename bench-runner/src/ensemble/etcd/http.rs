//! One question over HTTP: one short connection, one question, one answer until the server closes.
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest answer that is read, in bytes; `/metrics` is 200 KB.
const LONGEST_ANSWER: u64 = 32 << 20;

/// The body of `path` (as `/metrics`, `/health`) at `address`, whatever the status: an unhealthy node tells so with 503.
/// Asked in HTTP/1.0, so that the answer comes in one piece and the end of the stream is its end.
///
/// # Errors
///
/// The node does not listen, closes early, or has not answered in full within `limit` ([`io::ErrorKind::TimedOut`]).
pub async fn get(address: SocketAddr, path: &str, limit: Duration) -> io::Result<String> {
    ask(address, format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n"), limit).await
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
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await?;
        let answer = String::from_utf8_lossy(&answer);
        match answer.split_once("\r\n\r\n") {
            Some((_, body)) => Ok(body.to_owned()),
            None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer has no end of headers")),
        }
    };
    match tokio::time::timeout(limit, exchange).await {
        Ok(answer) => answer,
        Err(_) => {
            Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {:.1} s", limit.as_secs_f64())))
        }
    }
}
