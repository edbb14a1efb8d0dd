//! How many bytes a response takes on the wire.
//!
//! The client library does not tell, but jute, ZooKeeper's encoding, leaves no choice: the length follows from the content.
//! A test holds these against what crosses a real socket.

/// Every response: its length (4), the request's xid (4), the zxid (8), the error code (4). All there is of an error.
pub(super) const HEADER: u64 = 20;

/// A znode's full metadata: six 64-bit and five 32-bit numbers.
const STAT: u64 = 6 * 8 + 5 * 4;

/// A string or a buffer: its length and its bytes.
fn text(length: usize) -> u64 {
    4 + length as u64
}

/// Response to `create2`: path and metadata.
pub(super) fn created(path: &str) -> u64 {
    HEADER + text(path.len()) + STAT
}

/// Response to `sync`: the path.
pub(super) fn synced(path: &str) -> u64 {
    HEADER + text(path.len())
}

/// Response to `exists` and to `setData`: metadata.
pub(super) fn stat() -> u64 {
    HEADER + STAT
}

/// Response to `getData`: data and metadata.
pub(super) fn data(data: &[u8]) -> u64 {
    HEADER + text(data.len()) + STAT
}

/// Response to `getChildren`: the number of names, and the names.
pub(super) fn children(names: &[String]) -> u64 {
    HEADER + 4 + names.iter().map(|name| text(name.len())).sum::<u64>()
}
