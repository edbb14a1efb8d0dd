//! Roots on ZooKeeper.

use std::time::Duration;

use super::{ALIVE, ClaimError, Deed, MARK, PARENT, Root};
use crate::fleet::Target;
use crate::zookeeper::parents::remove_tree;
use crate::zookeeper::session::{AtDrop, Client, CreateMode, Session, SessionError, repeat};

pub(super) async fn open(target: &Target, session_timeout: Duration) -> Result<Client, ClaimError> {
    let client = Client::open(&target.endpoints, session_timeout, AtDrop::Close, &target.access).await;
    client.map_err(|error| ClaimError::NoSession { endpoints: target.endpoints.clone(), told: error.to_string() })
}

pub(super) async fn take(target: &Target, session_timeout: Duration, deed: &Deed) -> Result<Client, ClaimError> {
    let client = open(target, session_timeout).await?;
    let root = &target.root;
    match write(&client, root, deed).await {
        Ok(()) => Ok(client),
        Err(error @ (ClaimError::Taken { .. } | ClaimError::Refused { .. })) => {
            // Of the parent at the most something is ours.
            let _ = remove_parent(&client).await;
            Err(error)
        }
        Err(error) => {
            let _ = remove(&client, root).await;
            Err(error)
        }
    }
}

async fn write(client: &Client, root: &str, deed: &Deed) -> Result<(), ClaimError> {
    let refused = |error: SessionError| match error {
        SessionError::Refused(told) => ClaimError::Refused { told },
        other => failed(root, &other),
    };
    loop {
        match repeat(|| client.create(PARENT, CreateMode::Container, MARK)).await {
            Ok(_) | Err(SessionError::NodeExists) => {}
            Err(error) => return Err(refused(error)),
        }
        match client.create(root, CreateMode::Container, &deed.text()).await {
            Ok(_) => break,
            // Somebody else has removed the parent meanwhile.
            Err(SessionError::NoNode) => {}
            Err(SessionError::NodeExists) => return Err(ClaimError::Taken { root: root.to_owned() }),
            Err(error) => return Err(refused(error)),
        }
    }
    let alive = format!("{root}/{ALIVE}");
    client.create(&alive, CreateMode::Ephemeral, b"").await.map_err(refused)?;
    Ok(())
}

pub(super) async fn find(client: &Client) -> Result<Vec<Root>, ClaimError> {
    let mut names = match repeat(|| client.children(PARENT)).await {
        Ok(names) => names,
        Err(SessionError::NoNode) => return Ok(Vec::new()),
        Err(error) => return Err(failed(PARENT, &error)),
    };
    names.sort();
    let mut roots = Vec::new();
    for name in names {
        let path = format!("{PARENT}/{name}");
        let deed = match repeat(|| client.data(&path)).await {
            Ok((text, _)) => Deed::read(&text),
            Err(SessionError::NoNode) => continue,
            // It is somebody else's, who does not let us read it.
            Err(SessionError::Refused(_)) => None,
            Err(error) => return Err(failed(&path, &error)),
        };
        let alive = format!("{path}/{ALIVE}");
        let alive = repeat(|| client.exists(&alive)).await.map_err(|error| failed(&path, &error))?;
        roots.push(Root { path, deed, is_held: alive.is_some() });
    }
    Ok(roots)
}

/// Removes a root, and the parent where we have made it and nobody else is below it.
pub(super) async fn remove(client: &Client, root: &str) -> Result<(), ClaimError> {
    remove_tree(client, root).await.map_err(|error| failed(root, &error))?;
    remove_parent(client).await.map_err(|error| failed(PARENT, &error))
}

async fn remove_parent(client: &Client) -> Result<(), SessionError> {
    match repeat(|| client.data(PARENT)).await {
        Ok((text, _)) if text == MARK => {}
        // It was there before any of us, or it is gone.
        Ok(_) | Err(SessionError::NoNode | SessionError::Refused(_)) => return Ok(()),
        Err(error) => return Err(error),
    }
    match repeat(|| client.delete(PARENT)).await {
        Ok(()) | Err(SessionError::NoNode | SessionError::NotEmpty) => Ok(()),
        Err(error) => Err(error),
    }
}

fn failed(path: &str, error: &SessionError) -> ClaimError {
    if let SessionError::Refused(told) = error {
        return ClaimError::Refused { told: told.clone() };
    }
    ClaimError::Failed { path: path.to_owned(), told: error.to_string() }
}
