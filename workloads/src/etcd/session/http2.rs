//! The HTTP/2 connection under the client library, with next to nothing between the two.
//!
//! The channel that the library brings along is made for few connections with many users: a queue in front of each, a task
//! behind the queue, a connection that comes back by itself. A worker has a connection of its own and gives it up where it
//! does not serve, so that the queue would do nothing but take 10 KB for each worker. And each request would hold the 8 KB
//! into which it was encoded until it is answered, which with a herd is for a thousand at once; here it is packed tight.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use etcd_client::Channel;
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Request, Response};
use http_body::{Body as _, Frame};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

/// How long a server may take to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How often a silent connection is pinged. Servers close connections that ping more often than every 5 s.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// How long a ping may take to be answered before the connection counts as dead.
const PING_LIMIT: Duration = Duration::from_secs(5);

/// One connection to `server`, opened with the first request. Once it is broken every request fails with
/// [`tonic::Code::Unavailable`].
pub(super) fn channel(server: Authority) -> Channel {
    let connection = Arc::new(Http2 { server, opened: OnceCell::new() });
    Channel::Custom(BoxCloneSyncService::new(service_fn(move |request| {
        let connection = Arc::clone(&connection);
        async move { connection.send(request).await.map_err(tower::BoxError::from) }
    })))
}

struct Http2 {
    server: Authority,
    opened: OnceCell<SendRequest<Packed>>,
}

impl Http2 {
    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let mut connection = self.opened.get_or_try_init(|| Box::pin(self.open())).await?.clone();
        let (mut head, body) = request.into_parts();
        let path = head.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let address = Uri::builder().scheme(Scheme::HTTP).authority(self.server.clone()).path_and_query(path);
        head.uri = address.build().map_err(|error| Status::internal(error.to_string()))?;
        let body = Packed::pack(body).await?;
        let answer = connection.send_request(Request::from_parts(head, body)).await.map_err(broken)?;
        Ok(answer.map(Body::new))
    }

    async fn open(&self) -> Result<SendRequest<Packed>, Status> {
        let connecting = timeout(CONNECT_LIMIT, TcpStream::connect(self.server.as_str())).await;
        let stream = connecting
            .map_err(|_| broken(format!("no connection within {} s", CONNECT_LIMIT.as_secs())))?
            .map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let (requests, serving) = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_LIMIT)
            .keep_alive_while_idle(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        // It ends with the last who can send a request, or when it breaks: whoever waits for an answer is told then.
        tokio::spawn(async move {
            let _ = serving.await;
        });
        Ok(requests)
    }
}

fn broken(why: impl ToString) -> Status {
    Status::unavailable(why.to_string())
}

/// The body of a request, of which all that is at hand is packed tight. What it was encoded into is far larger, and goes at
/// once where nothing follows: that is so in all requests but streams.
struct Packed {
    /// Empty once it was sent.
    first: Bytes,
    rest: Option<Body>,
}

impl Packed {
    async fn pack(mut body: Body) -> Result<Packed, Status> {
        let mut first = Vec::new();
        let more = poll_fn(|context| {
            loop {
                match Pin::new(&mut body).poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => first.extend_from_slice(frame.data_ref().map_or(&[], |data| data)),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                    Poll::Ready(None) => return Poll::Ready(Ok(false)),
                    Poll::Pending => return Poll::Ready(Ok(true)),
                }
            }
        });
        let more = more.await?;
        Ok(Packed { first: first.into(), rest: more.then_some(body) })
    }
}

impl http_body::Body for Packed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.rest.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Gives what it was told, `None` for "not yet".
    struct Scripted(VecDeque<Option<&'static [u8]>>);

    impl http_body::Body for Scripted {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            match self.0.pop_front() {
                None => Poll::Ready(None),
                Some(Some(data)) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(data))))),
                Some(None) => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            }
        }
    }

    async fn pack(script: &[Option<&'static [u8]>]) -> Packed {
        Packed::pack(Body::new(Scripted(script.iter().copied().collect()))).await.unwrap()
    }

    async fn next(body: &mut Packed) -> Option<Bytes> {
        poll_fn(|context| Pin::new(&mut *body).poll_frame(context))
            .await
            .map(|frame| frame.unwrap().into_data().unwrap())
    }

    #[tokio::test]
    async fn of_a_body_that_is_complete_nothing_is_kept_but_its_bytes() {
        let mut body = pack(&[Some(b"one message"), Some(b" in two frames")]).await;
        assert!(body.rest.is_none(), "the body that it was made of is gone before anything is sent");
        assert!(!body.is_end_stream());
        assert_eq!(next(&mut body).await.as_deref(), Some(&b"one message in two frames"[..]));
        assert!(body.is_end_stream(), "the end goes out with the last byte");
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn what_comes_later_on_a_stream_is_sent_later() {
        let mut body = pack(&[Some(b"first"), None, Some(b"second"), None, Some(b"third")]).await;
        for expected in ["first", "second", "third"] {
            assert!(!body.is_end_stream());
            assert_eq!(next(&mut body).await.as_deref(), Some(expected.as_bytes()));
        }
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn a_stream_that_has_nothing_yet_is_not_waited_for() {
        let mut body = pack(&[None, Some(b"late")]).await;
        assert!(body.first.is_empty());
        assert_eq!(next(&mut body).await.as_deref(), Some(&b"late"[..]));
    }
}
