//! Roots in etcd: keys with a prefix.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::{ALIVE, ClaimError, Deed, PARENT, Root};
use crate::etcd::keys::prefix;
use crate::etcd::session::{Client, Connection, Range, Session, SessionError, Untapped, repeat};
use crate::fleet::Target;

pub(super) async fn open(target: &Target, ttl: Duration) -> Result<Client, ClaimError> {
    let opening = async {
        let connection = Connection::open(&target.endpoints, 0, target.access.clone()).await?;
        Client::open(Arc::new(connection), ttl, Arc::new(Untapped)).await
    };
    opening.await.map_err(|error: SessionError| ClaimError::NoSession {
        endpoints: target.endpoints.clone(),
        told: error.to_string(),
    })
}

pub(super) async fn take(target: &Target, ttl: Duration, deed: &Deed) -> Result<Client, ClaimError> {
    let client = open(target, ttl).await?;
    let root = &target.root;
    let found = repeat(|| client.range(Range::Key(root))).await.map_err(|error| refused(root, error))?;
    if found.first.is_some() {
        return Err(ClaimError::Taken { root: root.clone() });
    }
    let written = async {
        client.put_lasting(root, &deed.text()).await?;
        client.put(&format!("{root}/{ALIVE}"), b"").await
    };
    match written.await {
        Ok(()) => Ok(client),
        Err(error) => {
            let _ = remove(&client, root).await;
            Err(refused(root, error))
        }
    }
}

pub(super) async fn find(client: &Client) -> Result<Vec<Root>, ClaimError> {
    let below = prefix(PARENT);
    let keys = repeat(|| client.keys(&below)).await.map_err(|error| refused(PARENT, error))?;
    let names: BTreeSet<&str> = keys.iter().filter_map(|key| key.strip_prefix(&below)?.split('/').next()).collect();
    let mut roots = Vec::new();
    for name in names {
        let path = format!("{below}{name}");
        let found = repeat(|| client.range(Range::Key(&path))).await.map_err(|error| refused(&path, error))?;
        let deed = found.first.and_then(|key| Deed::read(&key.value));
        let is_held = keys.contains(&format!("{path}/{ALIVE}"));
        roots.push(Root { path, deed, is_held });
    }
    Ok(roots)
}

pub(super) async fn remove(client: &Client, root: &str) -> Result<(), ClaimError> {
    // The deed last, so that what stays after a failure can still be told.
    let below = prefix(root);
    repeat(|| client.delete_all(&below)).await.map_err(|error| refused(root, error))?;
    repeat(|| client.delete_key(root)).await.map_err(|error| refused(root, error))
}

fn refused(path: &str, error: SessionError) -> ClaimError {
    match error {
        SessionError::Refused(told) => ClaimError::Refused { told },
        other => ClaimError::Failed { path: path.to_owned(), told: other.to_string() },
    }
}
