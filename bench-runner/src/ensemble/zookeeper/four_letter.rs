//! Four-letter words: one short connection, one word, one answer until the server closes.
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest answer that is read, in bytes: `cons` of a hundred thousand connections stays below.
const LONGEST_ANSWER: u64 = 32 << 20;

/// Asks `word` (as `mntr`, `srvr`, `ruok`) at `address` and gives the whole answer. The word has to be on the server's
/// `4lw.commands.whitelist`; otherwise the answer is a sentence that says so.
///
/// Errors: the node does not listen, closes early, or has not answered in full within `limit`
/// ([`io::ErrorKind::TimedOut`]).
pub async fn ask(address: SocketAddr, word: &str, limit: Duration) -> io::Result<String> {
    let exchange = async { exchange(TcpStream::connect(address).await?, word).await };
    within(limit, exchange).await
}

/// As [`ask`], on a connection that is open already.
///
/// Errors: those of [`ask`].
pub(crate) async fn ask_on(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    word: &str,
    limit: Duration,
) -> io::Result<String> {
    within(limit, exchange(stream, word)).await
}

/// Whether this is what a server answers to a word that is not on its whitelist.
pub(crate) fn is_forbidden(answer: &str) -> bool {
    answer.contains("is not executed because it is not in the whitelist")
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, word: &str) -> io::Result<String> {
    stream.write_all(word.as_bytes()).await?;
    stream.flush().await?;
    Ok(String::from_utf8_lossy(&to_the_end(stream).await?).into_owned())
}

/// All that comes. Over TLS some servers close the connection without saying so first, which is no error after an answer.
pub(crate) async fn to_the_end(stream: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    match stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof || answer.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

/// Ends what takes longer than `limit`.
pub(crate) async fn within(limit: Duration, exchange: impl Future<Output = io::Result<String>>) -> io::Result<String> {
    match tokio::time::timeout(limit, exchange).await {
        Ok(answer) => answer,
        Err(_) => {
            Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {:.1} s", limit.as_secs_f64())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// A server that reads a word, sends `answer` and closes, or never answers.
    async fn server(answer: Option<&'static str>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut word = [0; 4];
            stream.read_exact(&mut word).await.unwrap();
            match answer {
                Some(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
                None => std::future::pending().await,
            }
        });
        address
    }

    #[tokio::test]
    async fn the_answer_is_read_until_the_server_closes() {
        let address = server(Some("imok")).await;
        assert_eq!(ask(address, "ruok", Duration::from_secs(10)).await.unwrap(), "imok");
    }

    #[tokio::test]
    async fn a_server_that_never_answers_costs_no_more_than_the_limit() {
        let address = server(None).await;
        let error = ask(address, "ruok", Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
