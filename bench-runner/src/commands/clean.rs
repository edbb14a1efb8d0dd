//! `bench-runner clean`: removes from external servers what killed runs have left.

use std::time::Duration;

use workloads::claim::{self, Root};
use workloads::fleet::Target;
use workloads::settings::Service;

use super::{Failure, deed, external, print};
use crate::cli::CleanArgs;
use crate::ensemble::{Ensemble, EnsembleError, ExternalSettings};
use crate::exit;
use crate::scenario::Scenario;

/// The timeout of the session that does it.
const SESSION_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn clean(args: &CleanArgs) -> Result<u8, Failure> {
    let mut scenario = external::load(&args.scenario)?;
    external::allow(&mut scenario, args.allowed);
    if !scenario.ensemble.external.as_ref().is_some_and(|external| external.is_allowed) {
        return Err(Failure::Usage(
            "clean would remove what killed runs have left on servers that bench-runner has not started; nothing was done. Add \
             --allow-external to let it"
                .to_owned(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Unfinished(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(async {
        for service in scenario.services() {
            clean_service(&scenario, service, args).await?;
        }
        Ok(exit::DONE)
    })
}

async fn clean_service(scenario: &Scenario, service: Service, args: &CleanArgs) -> Result<(), Failure> {
    let Some(settings) = external::settings(scenario, service)? else { return Ok(()) };
    Ensemble::external(&settings, &|_| {}).await?;
    let target = target(&settings, String::new());
    let failed = |error: claim::ClaimError| Failure::Ensemble(error.to_string());
    let owner = args.owner.clone().unwrap_or_else(deed::owner);
    let roots = claim::find(&target, SESSION_TIMEOUT).await.map_err(failed)?;
    let (left, others): (Vec<Root>, Vec<Root>) = roots.into_iter().partition(|root| deed::is_left(root, &owner));
    for root in &left {
        if args.dry_run {
            print(&format!("{service}: {} would be removed\n", root.path))?;
            continue;
        }
        claim::remove(&target, SESSION_TIMEOUT, root).await.map_err(failed)?;
        print(&format!("{service}: removed {}\n", root.path))?;
    }
    for root in &others {
        print(&format!("{service}: left {}, {}\n", root.path, why(root, &owner)))?;
    }
    if left.is_empty() && others.is_empty() {
        print(&format!("{service}: nothing to remove\n"))?;
    }
    Ok(())
}

fn why(root: &Root, owner: &str) -> String {
    match &root.deed {
        None => "which does not say whose it is".to_owned(),
        Some(deed) if deed.owner == owner => "whose run goes on".to_owned(),
        Some(deed) => format!("which is of {0} (--owner {0})", deed.owner),
    }
}

/// Where it is done.
pub(super) fn target(settings: &ExternalSettings, root: String) -> Target {
    Target { service: settings.service, endpoints: settings.endpoints.join(","), root, access: settings.access.clone() }
}

/// Takes the root of a run, after removing what killed runs of the same owner have left; `say` is told what.
///
/// Errors: [`EnsembleError::Claim`].
pub(super) async fn take(
    target: &Target,
    session_timeout: Duration,
    say: &(dyn Fn(&str) + Sync),
) -> Result<claim::Claim, EnsembleError> {
    let failed = |error: claim::ClaimError| EnsembleError::Claim { told: told(&error, target) };
    let ours = deed::ours();
    for root in claim::find(target, session_timeout).await.map_err(failed)? {
        if deed::is_left(&root, &ours.owner) {
            say(&format!("removing {}, which a killed run has left", root.path));
            claim::remove(target, session_timeout, &root).await.map_err(failed)?;
        }
    }
    claim::Claim::take(target, session_timeout, &ours).await.map_err(failed)
}

/// A failure, with what would help.
fn told(error: &claim::ClaimError, target: &Target) -> String {
    let who = match &target.access.login {
        Some(login) => format!("`{}`", login.user),
        None => "whoever has no login".to_owned(),
    };
    let service = target.service;
    match error {
        claim::ClaimError::Refused { .. } => format!(
            "{error}; is the password of [ensemble.{service}.auth] right, and may {who} create, read and delete there?"
        ),
        claim::ClaimError::NoSession { .. } => format!("{error}; see [ensemble.{service}]: endpoints, tls and auth"),
        other => other.to_string(),
    }
}
