//! The znodes above a recipe's own: container nodes, as Curator makes them, which the server removes some time after they
//! have lost their last child. A recipe must therefore be ready to make them again.

use super::session::{CreateMode, Session, SessionError, repeat};

/// Makes `path` and everything above it, where missing, also where the server removes a part of it meanwhile.
///
/// # Errors
///
/// What creating a node answers, except that a node which exists already is none.
pub async fn make(session: &impl Session, path: &str) -> Result<(), SessionError> {
    let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).chain([path.len()]).collect();
    let mut made = 0;
    while let Some(end) = ends.get(made) {
        match repeat(|| session.create(&path[..*end], CreateMode::Container, b"")).await {
            Ok(_) | Err(SessionError::NodeExists) => made += 1,
            // What was made or found above has gone since: from the top. At the top itself there is nothing above.
            Err(SessionError::NoNode) if made > 0 => made = 0,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes `path` and everything below it; a node that vanishes meanwhile is no error.
///
/// # Errors
///
/// What listing or deleting answers otherwise.
pub async fn remove_tree(session: &impl Session, path: &str) -> Result<(), SessionError> {
    let mut open = vec![path.to_owned()];
    while let Some(current) = open.last().cloned() {
        let children = match repeat(|| session.children(&current)).await {
            Ok(children) => children,
            Err(SessionError::NoNode) => Vec::new(),
            Err(error) => return Err(error),
        };
        if !children.is_empty() {
            open.extend(children.iter().map(|child| format!("{current}/{child}")));
            continue;
        }
        match repeat(|| session.delete(&current)).await {
            Ok(()) | Err(SessionError::NoNode) => {
                open.pop();
            }
            // A child came into being meanwhile: list again.
            Err(SessionError::NotEmpty) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
