//! How many bytes a response takes.
//!
//! Counted is the gRPC message: its frame's header and the protobuf inside, worked out again from what was decoded, which
//! gives the same length since etcd sends no field that this client does not know. Not counted is what HTTP/2 puts around
//! it (frame headers of 9 bytes, compressed header fields, trailers, window updates): it depends on what went over the
//! connection before. An error is trailers alone, and so 0.

use prost::Message;

/// A gRPC frame's header: whether it is compressed (1), and its length (4).
const FRAME_HEADER: u64 = 5;

/// Bytes of a response.
pub(super) fn bytes(message: &impl Message) -> u64 {
    FRAME_HEADER + message.encoded_len() as u64
}
