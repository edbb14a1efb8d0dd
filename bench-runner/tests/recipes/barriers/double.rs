//! Both double barriers on ZooKeeper: what goes wrong elsewhere goes right here.
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{DoubleBarrier as _, Entered};
use workloads::zookeeper::session::{Client, CreateMode, Session};
use workloads::zookeeper::{DoubleBarrier, NaiveDoubleBarrier};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{Place, eventually, on_ensemble, within};
use crate::rounds::{Held, Told, cut_off, entering, entering_as, leaving, rounds_with_a_late_waker};

async fn members(place: &Place, count: u32, quantity: u32) -> Vec<DoubleBarrier<Client>> {
    let mut members = Vec::new();
    for _ in 0..count {
        members.push(DoubleBarrier::new(place.session().await, &place.base, quantity));
    }
    members
}

async fn naive_members(place: &Place, base: &str, count: u32) -> Vec<NaiveDoubleBarrier<Client>> {
    let mut members = Vec::new();
    for _ in 0..count {
        members.push(NaiveDoubleBarrier::new(place.session().await, base, count));
    }
    members
}

/// Curator #1291, and the same for whoever counts: the late waker finds that some have left again, or entered again.
#[test]
fn nobody_sticks_and_nobody_passes_early_with_a_late_waker() {
    on_ensemble(async |place| {
        let at = |name: &str| format!("{}/{name}", place.base);
        let double = async |count: u32| {
            let mut members = Vec::new();
            for _ in 0..count {
                members.push(DoubleBarrier::new(place.session().await, &at(&count.to_string()), count));
            }
            rounds_with_a_late_waker(members, 50).await;
        };
        let naive = async || {
            rounds_with_a_late_waker(naive_members(place, &at("naive"), 20).await, 50).await;
        };
        tokio::join!(double(20), double(50), naive());
    });
}

/// Curator #1290: the barrier is bypassed on a spurious wake-up.
#[test]
fn a_wake_up_alone_opens_nothing() {
    on_ensemble(async |place| {
        let told = Told::default();
        let ready = format!("{}/ready", place.base);
        let (session, (go_on, held)) = (place.session().await, Held::new(&told));
        let waits = entering_as(DoubleBarrier::new(session.clone(), &place.base, 2), held);
        told.settled(0, 1).await;
        place.steward.create(&ready, CreateMode::Persistent, b"").await.unwrap();
        eventually("it is woken", async || told.woken() == 1).await;
        // Before it looks, what woke it is gone.
        session.delete(&ready).await.unwrap();
        go_on.send(()).unwrap();
        told.settled(1, 1).await;
        assert!(!waits.is_over());
        go_on.send(()).unwrap();
        let enters = entering(members(place, 1, 2).await.remove(0), &told);
        let (first, second) = (waits.done().await, enters.done().await);
        let (first, second) = (leaving(first, &told), leaving(second, &told));
        drop((first.done().await, second.done().await));
        place.left_clean().await;
    });
}

/// Curator PR #416: a late event of `ready` wakes a leaver.
#[test]
fn an_event_of_ready_ends_no_leave() {
    on_ensemble(async |place| {
        let told = Told::default();
        let [mut first, mut beyond] = members(place, 2, 1).await.try_into().ok().unwrap();
        within(first.enter(&mut told.clone())).await.unwrap();
        // This one finds the barrier open, by a look that set a watch on `ready`.
        within(beyond.enter(&mut told.clone())).await.unwrap();
        let leaves = leaving(beyond, &told);
        told.settled(1, 1).await;
        place.steward.delete(&format!("{}/ready", place.base)).await.unwrap();
        place.watched(1).await;
        assert_eq!((told.woken(), leaves.is_over()), (1, false));
        let first = leaving(first, &told);
        drop((leaves.done().await, first.done().await));
        place.left_clean().await;
    });
}

#[test]
fn members_beyond_the_quantity_are_let_in_and_waited_for() {
    on_ensemble(async |place| {
        let told = Told::default();
        let mut inside = Vec::new();
        for mut member in members(place, 4, 2).await {
            inside.push(tokio::spawn({
                let mut told = told.clone();
                async move {
                    let entered = member.enter(&mut told).await.unwrap();
                    assert!(matches!(entered, Entered::Inside(_)));
                    member
                }
            }));
        }
        let mut leave = Vec::new();
        for member in inside {
            leave.push(within(member).await.unwrap());
        }
        let woken = told.woken();
        let last = leave.pop().unwrap();
        let underway: Vec<_> = leave.into_iter().map(|member| leaving(member, &told)).collect();
        // Whoever the lowest is, nobody is out while one is inside.
        eventually("three have left or wait", async || place.ensemble.counters().await.unwrap().watches == 3).await;
        assert!(underway.iter().all(|member| !member.is_over()) && told.woken() <= woken + 2);
        leaving(last, &told).done().await;
        for member in underway {
            member.done().await;
        }
        place.left_clean().await;
    });
}

#[test]
fn an_enter_that_is_cut_off_counts_no_more_and_may_be_tried_again() {
    on_ensemble(async |place| {
        let told = Told::default();
        let [mut first, second, third] = members(place, 3, 3).await.try_into().ok().unwrap();
        for _ in 0..3 {
            cut_off(first.enter(&mut told.clone()), &told).await;
        }
        // Once more at once: with what an earlier attempt left behind these two would be three.
        let (woken, first) = (told.woken(), entering(first, &told));
        let second = entering(second, &told);
        eventually("two wait", async || place.ensemble.counters().await.unwrap().watches == 2).await;
        place.queued(2).await;
        assert!(!first.is_over() && !second.is_over() && told.woken() == woken);
        let third = entering(third, &told);
        let inside = [first.done().await, second.done().await, third.done().await];
        let out = inside.map(|member| leaving(member, &told));
        for member in out {
            member.done().await;
        }
        place.left_clean().await;
    });
}

/// What an earlier attempt leaves to be removed still stands, and with it this one would be two.
#[test]
fn an_enter_waits_until_the_member_of_an_earlier_one_is_removed() {
    on_ensemble(async |place| {
        let told = Told::default();
        let session = Faulty::new(place.session().await);
        let (remove, may_be_removed) = tokio::sync::oneshot::channel();
        session.on(Op::Delete, 0, Fault::after(async move |_| may_be_removed.await.unwrap()));
        let mut member = DoubleBarrier::new(session.clone(), &place.base, 2);
        cut_off(member.enter(&mut told.clone()), &told).await;
        eventually("it is being removed", async || session.calls().contains(&Op::Delete)).await;
        let created = || session.calls().iter().filter(|call| **call == Op::Create).count();
        let before = created();
        let enters = entering(member, &told);
        for _ in 0..20 {
            place.steward.sync(&place.base).await.unwrap();
        }
        assert_eq!((created(), enters.is_over(), place.queued(1).await.len()), (before, false, 1));
        remove.send(()).unwrap();
        told.settled(0, 2).await;
        let other = entering(members(place, 1, 2).await.remove(0), &told);
        let (one, other) = (enters.done().await, other.done().await);
        let (one, other) = (leaving(one, &told), leaving(other, &told));
        drop((one.done().await, other.done().await));
        place.left_clean().await;
    });
}

#[test]
fn a_leave_that_is_cut_off_removes_the_member() {
    on_ensemble(async |place| {
        let told = Told::default();
        let mut inside = Vec::new();
        for enters in members(place, 3, 3).await.into_iter().map(|member| entering(member, &told)).collect::<Vec<_>>() {
            inside.push(enters.done().await);
        }
        let [mut one, mut two, three] = inside.try_into().ok().unwrap();
        cut_off(one.leave(&mut told.clone()), &told).await;
        cut_off(two.leave(&mut told.clone()), &told).await;
        // The members of those two are gone, the lowest of them as well, so that nobody is waited for.
        drop(leaving(three, &told).done().await);
        place.left_clean().await;
        let outcome = within(one.leave(&mut told.clone())).await;
        assert!(matches!(outcome, Err(RecipeError::Service(_))), "{outcome:?}");
    });
}

/// One that dies waiting is not counted, and one that dies inside is not waited for.
#[test]
fn the_dead_hold_nobody_back() {
    on_ensemble(async |place| {
        let told = Told::default();
        let (proxy, client) = crate::death::mortal(place).await;
        let dying = entering(DoubleBarrier::new(client, &place.base, 3), &told);
        told.settled(0, 1).await;
        let [first, second, third] = members(place, 3, 3).await.try_into().ok().unwrap();
        let first = entering(first, &told);
        told.settled(0, 2).await;
        proxy.sever();
        let (_, outcome) = dying.outcome().await;
        assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
        place.queued(1).await;
        let second = entering(second, &told);
        eventually("two wait", async || place.ensemble.counters().await.unwrap().watches == 2).await;
        assert!(!first.is_over() && !second.is_over());
        let inside = [first.done(), second.done(), entering(third, &told).done()];
        let [first, second, third] = inside;
        let (first, second, third) = tokio::join!(first, second, third);

        // Inside it has died as well, without a word.
        let (proxy, client) = crate::death::mortal(place).await;
        let mut dying = DoubleBarrier::new(client, &place.base, 3);
        within(dying.enter(&mut told.clone())).await.unwrap();
        place.queued(5).await;
        let out = [first, second, third].map(|member| leaving(member, &told));
        proxy.sever();
        for member in out {
            member.done().await;
        }
        place.queued(0).await;
        drop(dying);
    });
}

#[test]
fn a_member_that_somebody_removes_is_told_so() {
    on_ensemble(async |place| {
        let told = Told::default();
        let session = place.session().await;
        let mut member = DoubleBarrier::new(session.clone(), &place.base, 1);
        within(member.enter(&mut told.clone())).await.unwrap();
        for name in place.entries().await {
            place.steward.delete(&format!("{}/{name}", place.base)).await.unwrap();
        }
        // Its own server may lag behind, and knows nothing of it then.
        session.sync(&place.base).await.unwrap();
        let outcome = eventually_err(&mut member).await;
        assert!(matches!(outcome, RecipeError::EntryVanished(_)), "{outcome:?}");
    });
}

async fn eventually_err(member: &mut DoubleBarrier<Client>) -> RecipeError {
    within(member.leave(&mut Told::default())).await.unwrap_err()
}

/// Whatever request or reply is lost, two members come in and go out, and leave nothing behind.
#[test]
fn a_lost_request_or_reply_costs_nothing_but_time() {
    on_ensemble(async |place| {
        let lose = [
            (Op::Create, 0),
            (Op::Create, 1),
            (Op::Exists, 0),
            (Op::Exists, 1),
            (Op::Children, 0),
            (Op::Children, 1),
            (Op::DataWatched, 0),
            (Op::Delete, 0),
            (Op::Delete, 1),
        ];
        for (op, nth) in lose {
            for fault in [|| Fault::LostRequest, || Fault::LostReply] {
                let told = Told::default();
                let session = Faulty::new(place.session().await);
                session.on(op, nth, fault());
                let one = entering(DoubleBarrier::new(session, &place.base, 2), &told);
                let other = entering(members(place, 1, 2).await.remove(0), &told);
                let (one, other) = (one.done().await, other.done().await);
                let (one, other) = (leaving(one, &told), leaving(other, &told));
                drop((one.done().await, other.done().await));
                place.queued(0).await;
            }
        }
    });
}

/// Curator's layout: members named by a UUID, beside `ready`.
#[test]
fn members_and_ready_have_curators_names() {
    on_ensemble(async |place| {
        let mut member = members(place, 1, 1).await.remove(0);
        let Entered::Inside(seat) = within(member.enter(&mut Told::default())).await.unwrap() else { panic!() };
        let mut names = place.queued(2).await;
        names.sort();
        assert_eq!(names[1], "ready");
        let uuid = uuid::Uuid::parse_str(&names[0]).unwrap();
        assert_eq!((uuid.hyphenated().to_string(), uuid.as_u64_pair().0), (names[0].clone(), seat.rank));
        let (_, stat) = place.steward.data(&format!("{}/{}", place.base, names[0])).await.unwrap();
        assert_eq!(stat.czxid, seat.token);
        assert_ne!(stat.ephemeral_owner, 0);
        let (_, stat) = place.steward.data(&format!("{}/ready", place.base)).await.unwrap();
        assert_eq!(stat.ephemeral_owner, 0);
        within(member.leave(&mut Told::default())).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn a_naive_member_that_is_cut_off_or_dies_holds_nobody_back() {
    on_ensemble(async |place| {
        let told = Told::default();
        let [mut first, second, third] = naive_members(place, &place.base, 3).await.try_into().ok().unwrap();
        cut_off(first.enter(&mut told.clone()), &told).await;
        let second = entering(second, &told);
        eventually("it waits", async || place.ensemble.counters().await.unwrap().watches == 1).await;
        let third = entering(third, &told);
        eventually("two wait", async || place.ensemble.counters().await.unwrap().watches == 2).await;
        assert!(!second.is_over() && !third.is_over());
        let (proxy, client) = crate::death::mortal(place).await;
        let mut dying = NaiveDoubleBarrier::new(client, &place.base, 3);
        within(dying.enter(&mut told.clone())).await.unwrap();
        let (second, third) = (second.done().await, third.done().await);
        let (second, third) = (leaving(second, &told), leaving(third, &told));
        eventually("two wait", async || place.ensemble.counters().await.unwrap().watches >= 2).await;
        assert!(!second.is_over() && !third.is_over());
        proxy.sever();
        drop((second.done().await, third.done().await, dying, first));
    });
}
