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
use http::request::Parts;
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Request, Response};
use http_body::{Body as _, Frame};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::OnceCell;
use tonic::Status;
use tonic::body::Body;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use super::token;
use crate::access::tls::Use;
use crate::access::{Access, Login, Stream};

/// How long a server may take to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How often a silent connection is pinged. Servers close connections that ping more often than every 5 s.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// How long a ping may take to be answered before the connection counts as dead.
const PING_LIMIT: Duration = Duration::from_secs(5);

/// One connection to `server`, opened with the first request. Once it is broken every request fails with
/// [`tonic::Code::Unavailable`].
pub(super) fn channel(server: Authority, access: Access) -> Channel {
    let connection = Arc::new(Http2 { server, access, opened: OnceCell::new() });
    Channel::Custom(BoxCloneSyncService::new(service_fn(move |request| {
        let connection = Arc::clone(&connection);
        async move { connection.send(request).await.map_err(tower::BoxError::from) }
    })))
}

struct Http2 {
    server: Authority,
    access: Access,
    opened: OnceCell<SendRequest<Packed>>,
}

impl Http2 {
    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let mut connection = self.opened.get_or_try_init(|| Box::pin(self.open())).await?.clone();
        let (mut head, body) = request.into_parts();
        let path = head.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        head.uri = self.address(path)?;
        let body = Packed::pack(body).await?;
        let Some(login) = &self.access.login else {
            let answer = connection.send_request(Request::from_parts(head, body)).await.map_err(broken)?;
            return Ok(answer.map(Body::new));
        };
        let again = body.again();
        let number = self.sign(login, &mut connection, &mut head).await?;
        let answer = connection.send_request(Request::from_parts(head.clone(), body)).await.map_err(broken)?;
        let (Some(body), true) = (again, token::is_refused(answer.headers())) else {
            return Ok(answer.map(Body::new));
        };
        // Refused, so it was not carried out: the same again, with another token.
        login.drop_token(number);
        self.sign(login, &mut connection, &mut head).await?;
        let answer = connection.send_request(Request::from_parts(head, body)).await.map_err(broken)?;
        Ok(answer.map(Body::new))
    }

    /// Puts the token on a request; its number.
    async fn sign(&self, login: &Login, connection: &mut SendRequest<Packed>, head: &mut Parts) -> Result<u64, Status> {
        let get = async || {
            let address = self.address(PathAndQuery::from_static(token::PATH))?;
            let request = token::request(address, login)?.map(|message| Packed { first: message, rest: None });
            token::read(connection.send_request(request).await.map_err(broken)?).await
        };
        let (number, token) = Box::pin(login.token(get)).await?;
        head.headers.insert(token::HEADER, token);
        Ok(number)
    }

    fn address(&self, path: PathAndQuery) -> Result<Uri, Status> {
        let scheme = if self.access.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
        let address = Uri::builder().scheme(scheme).authority(self.server.clone()).path_and_query(path);
        address.build().map_err(|error| Status::internal(error.to_string()))
    }

    async fn open(&self) -> Result<SendRequest<Packed>, Status> {
        let tls = self.access.tls.as_deref();
        let stream = Stream::connect(self.server.as_str(), tls, Use::Http2, CONNECT_LIMIT).await.map_err(broken)?;
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

    /// The same once more; `None` for a stream, of which the rest is not at hand.
    fn again(&self) -> Option<Packed> {
        self.rest.is_none().then(|| Packed { first: self.first.clone(), rest: None })
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
