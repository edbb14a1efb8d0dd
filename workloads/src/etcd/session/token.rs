//! Getting a token for a user: the call `Authenticate`, and what servers say of a token that is over.
//!
//! The client library gets a token for each of its clients, which would be one for each worker. So it is not told of the user,
//! and the connection beneath puts the token on every request.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{BufMut, Bytes};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE};
use http::uri::Uri;
use http::{Method, Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use prost::Message;
use tonic::{Code, Status};

use crate::access::Login;

/// Where it is got.
pub(super) const PATH: &str = "/etcdserverpb.Auth/Authenticate";
/// Where it stands in a request.
pub(super) const HEADER: HeaderName = HeaderName::from_static("token");
/// The longest answer: a signed token is some KB.
const LONGEST: usize = 64 << 10;

#[derive(Clone, PartialEq, Message)]
struct AuthenticateRequest {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    password: String,
}

#[derive(Clone, PartialEq, Message)]
struct AuthenticateResponse {
    #[prost(string, tag = "2")]
    token: String,
}

/// The request, its body a whole gRPC frame.
pub(super) fn request(address: Uri, login: &Login) -> Result<Request<Bytes>, Status> {
    let message = AuthenticateRequest { name: login.user.clone(), password: login.password.expose().to_owned() };
    let mut frame = Vec::with_capacity(5 + message.encoded_len());
    frame.put_u8(0);
    // Names and passwords are far shorter than 4 GiB.
    frame.put_u32(message.encoded_len() as u32);
    frame.extend_from_slice(&message.encode_to_vec());
    let request = Request::builder()
        .method(Method::POST)
        .uri(address)
        .header(CONTENT_TYPE, "application/grpc")
        .header(TE, "trailers")
        .body(frame.into());
    request.map_err(|error| Status::internal(error.to_string()))
}

/// The token in an answer.
pub(super) async fn read(answer: Response<Incoming>) -> Result<HeaderValue, Status> {
    let (head, mut body) = answer.into_parts();
    if let Some(refused) = Status::from_header_map(&head.headers).filter(|status| status.code() != Code::Ok) {
        return Err(refused);
    }
    let mut bytes = Vec::new();
    let mut trailers = None;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Status::unavailable(error.to_string()))?;
        match frame.into_data() {
            Ok(data) if bytes.len() + data.len() <= LONGEST => bytes.extend_from_slice(&data),
            Ok(_) => return Err(Status::internal("the token is too long")),
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    match trailers.as_ref().and_then(Status::from_header_map) {
        Some(refused) if refused.code() != Code::Ok => return Err(refused),
        _ => {}
    }
    let message = bytes.get(5..).unwrap_or_default();
    let answer = AuthenticateResponse::decode(message).map_err(|error| Status::internal(error.to_string()))?;
    HeaderValue::from_str(&answer.token).map_err(|error| Status::internal(error.to_string()))
}

/// Whether an answer says that the token is over. Errors of servers come as headers alone.
pub(super) fn is_refused(headers: &HeaderMap) -> bool {
    Status::from_header_map(headers).is_some_and(|status| status.code() == Code::Unauthenticated)
}
