//! A connection to a server, plain or encrypted.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::certificate::Seen;
use super::tls::{Tls, Use};

/// A connection.
#[derive(Debug)]
pub enum Stream {
    /// As it goes over the wire.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No TCP connection.
    #[error("cannot connect to {server}: {reason}")]
    Unreachable {
        /// `host:port`.
        server: String,
        /// What the system said.
        reason: String,
    },
    /// TCP, and then no TLS.
    #[error("no TLS with {server}: {reason}")]
    Tls {
        /// `host:port`.
        server: String,
        /// Which certificate, and what is wrong with it, or what else.
        reason: String,
    },
}

impl From<ConnectError> for io::Error {
    fn from(error: ConnectError) -> Self {
        io::Error::new(io::ErrorKind::ConnectionRefused, error.to_string())
    }
}

impl Stream {
    /// Connects to `server` (`host:port`), within `limit` for each of the two steps; encrypted where `tls` says how.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]; where it is the server's certificate, the error names it and the reason.
    pub async fn connect(server: &str, tls: Option<&Tls>, of: Use, limit: Duration) -> Result<Stream, ConnectError> {
        let refuse = |reason: String| ConnectError::Unreachable { server: server.to_owned(), reason };
        let late = || format!("no answer within {} s", limit.as_secs_f64());
        let stream = timeout(limit, TcpStream::connect(server)).await.map_err(|_| refuse(late()))?;
        let stream = stream.map_err(|error| refuse(error.to_string()))?;
        stream.set_nodelay(true).map_err(|error| refuse(error.to_string()))?;
        let Some(tls) = tls else { return Ok(Stream::Plain(stream)) };
        let refuse = |reason: String| ConnectError::Tls { server: server.to_owned(), reason };
        let host = server.rsplit_once(':').map_or(server, |(host, _)| host).trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| refuse(format!("`{host}` is no name that a certificate could be for")))?;
        let seen = Seen::default();
        let connecting = tls.connector(of, &seen).connect(name, stream);
        match timeout(limit, connecting).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => Err(refuse(seen.explain(&error))),
            Err(_) => Err(refuse(format!("{}; is it a port for plain text?", late()))),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
