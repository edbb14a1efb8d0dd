//! A summary of split brain and of negative controls.

use bench_runner::measure::figures::*;
use bench_runner::results::summary::Summary;
use workloads::settings::{Recipe, Service};

use super::arm::{Shape, arm};
use super::summary;

/// Two arms with a counter, of which one lost updates; and three controls, of which one was not caught.
pub fn proof() -> Summary {
    let small = |label: &str, recipe: Recipe, service: Service| {
        let mut arm = Arm { label: label.to_owned(), recipe, service, ..arm(label, &Shape::sequential(5)) };
        arm.series.leaderships = (0..40)
            .map(|turn| {
                let from = 0.5 * f64::from(turn);
                Leadership { resource: 0, worker: turn % 5, from_seconds: from, to_seconds: from + 0.45 }
            })
            .collect();
        arm
    };
    let mut lossy = small("jepsen, etcd", Recipe::SequentialLock, Service::Etcd);
    lossy.series.leaderships[10].to_seconds = 9.0;
    lossy.series.stale_writes = vec![StaleWrite { resource: 0, worker: 0, seconds: 9.0 }];
    let plain = Store { acknowledged: 30, stale_acknowledged: 3, refused: 0, counter: 24, lost: 6 };
    let fenced = Store { acknowledged: 27, stale_acknowledged: 0, refused: 3, counter: 27, lost: 0 };
    let overlap_ms = Overlaps { count: 3, min: Some(1_210.0), p50: Some(1_544.0), max: Some(1_902.0) };
    count(&mut lossy, SplitBrain { updates: 30, stale: 3, plain, fenced, overlap_ms });
    let mut safe = small("leader, zookeeper", Recipe::LeaderLatch, Service::Zookeeper);
    let all = Store { acknowledged: 800, counter: 800, ..Store::default() };
    count(&mut safe, SplitBrain { updates: 800, plain: all, fenced: all, ..SplitBrain::default() });

    let mut unlocked = small("unlocked", Recipe::Unlocked, Service::Zookeeper);
    unlocked.safety.overlaps_asked = 4_210;
    unlocked.safety.longest_overlap_us = 12_800;
    unlocked.control = Some(control(ControlKind::Unlocked, None, true));
    let mut shared = small("shared sessions", Recipe::NaiveLock, Service::Zookeeper);
    shared.notifications.client = 3_675;
    shared.notifications.server = Some(740);
    shared.control = Some(Control {
        server_fan_out: Some(4.93),
        client_fan_out: Some(24.5),
        ..control(ControlKind::SharedSessions, Some(5), true)
    });
    let mut missed = small("shared leases", Recipe::SequentialLock, Service::Etcd);
    missed.control = Some(control(ControlKind::SharedSessions, Some(4), false));
    let mut summary = summary("controls", vec![lossy, safe, unlocked, shared, missed]);
    summary.contrasts.clear();
    summary
}

fn control(kind: ControlKind, sessions: Option<u32>, caught: bool) -> Control {
    Control { kind, sessions, caught, server_fan_out: None, client_fan_out: None }
}

/// Gives the arm this counter, and a third of it each of its trials.
fn count(arm: &mut Arm, counter: SplitBrain) {
    arm.safety.lost_updates = Some(0);
    arm.safety.lost_updates_asked = counter.plain.lost;
    arm.split_brain = Some(counter);
    arm.trial.iter_mut().for_each(|trial| trial.split_brain = Some(counter));
}
