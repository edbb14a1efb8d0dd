//! Four-letter words: one short connection, one word, one answer until the server closes.
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest answer that is read, in bytes: `cons` of a hundred thousand connections stays below.
const LONGEST_ANSWER: u64 = 32 << 20;

/// Asks `word` (as `mntr`, `srvr`, `ruok`) at `address` and gives the whole answer. The word has to be on the server's
/// `4lw.commands.whitelist`; otherwise the answer is a sentence that says so.
///
/// Errors: the node does not listen, closes early, or has not answered in full within `limit`
/// ([`io::ErrorKind::TimedOut`]).
pub async fn ask(address: SocketAddr, word: &str, limit: Duration) -> io::Result<String> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(word.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
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
