//! What all elections have in common, and what the end of a leader costs with each.
use workloads::recipe::{Grant, Lock, Loss};
use workloads::settings::Recipe;
use workloads::zookeeper::session::{Client, Session};
use workloads::zookeeper::{Contender, NaiveElection, names, parents};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{LONG, Notes, Place, SHORT, Task, acquire, acquiring, eventually, on_ensemble, within};
use crate::proxy::Proxy;

const ELECTIONS: [Recipe; 3] = [Recipe::NaiveElection, Recipe::LeaderLatch, Recipe::LeaderSelector];

fn contender<S: Session>(recipe: Recipe, session: S, base: &str) -> Contender<S> {
    Contender::new(recipe, session, base, false).unwrap()
}

async fn behind_a_proxy(place: &Place, timeout: std::time::Duration) -> (Proxy, Client) {
    let proxy = Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
    let client = Client::connect(&proxy.endpoint(), timeout).await.unwrap();
    (proxy, client)
}

type Waiting = Task<(Contender<Client>, Result<Grant, workloads::recipe::RecipeError>, Notes)>;

/// A leader whose session expires wakes everybody in the naive election, and its successor alone in the others.
#[test]
fn the_death_of_a_leader_of_13_notifies_12_naive_candidates_or_one() {
    const FOLLOWERS: u64 = 12;
    on_ensemble(async |place| {
        for recipe in ELECTIONS {
            let (proxy, client) = behind_a_proxy(place, SHORT).await;
            let mut leader = contender(recipe, client, &place.base);
            let grant = acquire(&mut leader).await;
            let mut followers: Vec<Waiting> = Vec::new();
            for number in 1..=FOLLOWERS {
                followers.push(acquiring(contender(recipe, place.session().await, &place.base)));
                place.watched(number).await;
            }
            let before = place.ensemble.counters().await.unwrap();
            proxy.sever();
            let (mut next, outcome, notes) = within(followers.remove(0)).await.unwrap();
            let second = outcome.unwrap();
            assert!(second.token > grant.token && notes.woken == 1);
            // All who were woken wait again.
            place.watched(FOLLOWERS - 1).await;
            let caused = place.ensemble.counters_at_rest(crate::place::PATIENCE).await.unwrap().since(&before);
            let fan_out = if recipe == Recipe::NaiveElection { FOLLOWERS } else { 1 };
            assert_eq!(caused.unwrap().notifications.unwrap().total, fan_out, "{recipe}");
            assert!(followers.iter().all(|follower| !follower.is_finished()));
            next.release(second).await.unwrap();
            for follower in followers {
                let (mut next, outcome, _) = within(follower).await.unwrap();
                next.release(outcome.unwrap()).await.unwrap();
            }
            place.left_clean().await;
        }
    });
}

/// CURATOR-460: the network loses every packet, and neither side is told. The client gives up before the servers do.
#[test]
fn a_holder_in_a_black_hole_is_told_before_anybody_else_is_granted() {
    // Long enough for the client to give up in good time also where it has to wait for the processor.
    const DOOMED: std::time::Duration = std::time::Duration::from_secs(4);
    on_ensemble(async |place| {
        let recipes = ELECTIONS.into_iter().chain([Recipe::NaiveLock, Recipe::SequentialLock]);
        let mut pairs = Vec::new();
        for (number, recipe) in (1..).zip(recipes) {
            let (proxy, client) = behind_a_proxy(place, DOOMED).await;
            let base = format!("{}-{number}", place.base);
            let mut holder = contender(recipe, client, &base);
            let grant = acquire(&mut holder).await;
            let waiter: Waiting = acquiring(contender(recipe, place.session().await, &base));
            place.watched(number).await;
            pairs.push((recipe, proxy, holder, grant, waiter));
        }
        let mut outcomes = tokio::task::JoinSet::new();
        for (recipe, proxy, holder, grant, mut waiter) in pairs {
            proxy.fall_silent();
            outcomes.spawn(async move {
                tokio::select! {
                    biased;
                    _ = &mut waiter => panic!("{recipe}: somebody else was granted first"),
                    loss = within(holder.lost(&grant)) => assert!(matches!(loss, Loss::Suspended(_)), "{loss:?}"),
                }
                let (mut next, outcome, _) = within(waiter).await.unwrap();
                let second = outcome.unwrap();
                assert!(second.token > grant.token);
                next.release(second).await.unwrap();
            });
        }
        while let Some(ended) = outcomes.join_next().await {
            ended.unwrap();
        }
    });
}

/// kazoo #282, #116: the leader goes while a candidate has no connection.
#[test]
fn a_candidate_that_was_disconnected_while_the_leader_went_leads_when_it_is_back() {
    on_ensemble(async |place| {
        for recipe in ELECTIONS {
            let mut leader = contender(recipe, place.session().await, &place.base);
            let grant = acquire(&mut leader).await;
            let (proxy, client) = behind_a_proxy(place, LONG).await;
            client.sync(&place.base).await.unwrap();
            let candidate = acquiring(contender(recipe, client, &place.base));
            place.watched(1).await;
            proxy.sever();
            place.watched(0).await;
            leader.release(grant).await.unwrap();
            proxy.mend().await;
            let (mut candidate, outcome, notes) = within(candidate).await.unwrap();
            assert_eq!(notes, Notes { enqueued: 1, woken: 1 }, "{recipe}");
            candidate.release(outcome.unwrap()).await.unwrap();
            place.left_clean().await;
            drop(candidate);
            proxy.idle().await;
        }
    });
}

/// zk-ruby #49, CURATOR-79: with its create under way, and while it waits.
#[test]
fn a_candidate_that_gives_up_leaves_neither_znode_nor_watch() {
    on_ensemble(async |place| {
        for recipe in ELECTIONS {
            let mut leader = contender(recipe, place.session().await, &place.base);
            let grant = acquire(&mut leader).await;
            let session = Faulty::new(place.session().await);
            let waiter = acquiring(contender(recipe, session.clone(), &place.base));
            place.watched(1).await;
            waiter.cancel().await;
            place.queued(1).await;
            place.watched(0).await;
            session.sync(&place.base).await.unwrap();
            session.on(Op::Create, 1, Fault::Silent);
            let waiter = acquiring(contender(recipe, session.clone(), &place.base));
            place.queued(2).await;
            waiter.cancel().await;
            place.queued(1).await;
            leader.release(grant).await.unwrap();
            place.left_clean().await;
        }
    });
}

/// go-zookeeper #229, zk-ruby #54: an orphan of one's own would block the election for ever.
#[test]
fn a_candidate_whose_create_lost_its_reply_is_in_the_queue_once() {
    on_ensemble(async |place| {
        parents::make(&place.steward, &place.base).await.unwrap();
        for recipe in ELECTIONS {
            let inner = place.session().await;
            inner.sync(&place.base).await.unwrap();
            let session = Faulty::new(inner);
            session.on(Op::Create, 0, Fault::LostReply);
            let mut candidate = contender(recipe, session.clone(), &place.base);
            let grant = acquire(&mut candidate).await;
            assert!(session.is_used_up());
            assert_eq!(place.entries().await, [names::last_segment(&grant.path)]);
            candidate.release(grant).await.unwrap();
            place.left_clean().await;
        }
    });
}

#[test]
fn a_naive_candidate_that_does_not_lead_goes_without_anybody_being_told() {
    on_ensemble(async |place| {
        let mut leader = NaiveElection::new(place.session().await, &place.base);
        let grant = acquire(&mut leader).await;
        let middle = acquiring(NaiveElection::new(place.session().await, &place.base));
        place.watched(1).await;
        let session = Faulty::new(place.session().await);
        let last = acquiring(NaiveElection::new(session.clone(), &place.base));
        place.watched(2).await;
        middle.cancel().await;
        place.queued(2).await;
        place.watched(1).await;
        // A notification would come before this reply.
        session.sync(&place.base).await.unwrap();
        assert_eq!(session.calls(), [Op::Create, Op::Children, Op::DataWatched, Op::Sync]);
        leader.release(grant).await.unwrap();
        let (mut last, outcome, notes) = within(last).await.unwrap();
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        last.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

/// Helix #44: the leader is deleted before it is watched.
#[test]
fn a_naive_candidate_whose_leader_vanishes_before_it_is_watched_lists_again_at_once() {
    on_ensemble(async |place| {
        let mut leader = NaiveElection::new(place.session().await, &place.base);
        let grant = acquire(&mut leader).await;
        let inner = place.session().await;
        inner.sync(&place.base).await.unwrap();
        let session = Faulty::new(inner.clone());
        let smallest = grant.path.clone();
        session.on(
            Op::DataWatched,
            0,
            Fault::after(async move |watched: String| {
                assert_eq!(watched, smallest);
                leader.release(grant).await.unwrap();
                inner.sync(&watched).await.unwrap();
            }),
        );
        let (mut next, outcome, notes) =
            within(acquiring(NaiveElection::new(session.clone(), &place.base))).await.unwrap();
        assert_eq!(session.calls(), [Op::Create, Op::Children, Op::DataWatched, Op::Children]);
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        // No watch was left on what had gone.
        place.watched(0).await;
        next.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn a_naive_candidate_whose_znode_vanished_does_not_lead() {
    on_ensemble(async |place| {
        let mut leader = NaiveElection::new(place.session().await, &place.base);
        let grant = acquire(&mut leader).await;
        let candidate = acquiring(NaiveElection::new(place.session().await, &place.base));
        place.watched(1).await;
        let own = format!("{}/{}", place.base, place.entries().await[1]);
        place.steward.delete(&own).await.unwrap();
        leader.release(grant).await.unwrap();
        let (_candidate, outcome, _) = within(candidate).await.unwrap();
        assert_eq!(outcome, Err(workloads::recipe::RecipeError::EntryVanished(own)));
        eventually("nothing is left", async || place.entries().await.is_empty()).await;
        place.left_clean().await;
    });
}
