//! What became of the shared counter of a trial: how many updates each store lost, which writes were stale, how long two held.

use std::collections::{BTreeMap, BTreeSet};

use workloads::record::Acquisition;
use workloads::settings::{Recipe, WorkerSettings};
use workloads::shared_counter::{Book, Update, Updates};

use super::figures::{Control, ControlKind, FanOut, Notifications, Overlaps, Safety, SplitBrain, StaleWrite, Store};
use super::histogram::{self, Micros};
use super::safety;
use super::trial::per;

/// The most stale writes that are kept for the chart.
const MOST_STALE: usize = 500;

/// What the counter of one trial came to, and what is needed to merge it with the others.
pub struct MeasuredSplitBrain {
    /// The figures.
    pub figures: SplitBrain,
    /// The stale writes, for the chart.
    pub stale: Vec<StaleWrite>,
    overlaps: Micros,
}

/// Measures the counter of one trial of this length; `None` where none was kept.
pub fn measure(updates: &Updates, acquisitions: &[Acquisition], length: u64) -> Option<MeasuredSplitBrain> {
    if updates.books.is_empty() {
        return None;
    }
    let stale = stale(&updates.log);
    let store = |of: fn(&workloads::shared_counter::Books) -> &Book| {
        let sum = |figure: fn(&Book) -> u64| updates.books.iter().map(|books| figure(of(books))).sum();
        Store {
            acknowledged: sum(|book| book.acknowledged),
            stale_acknowledged: 0,
            refused: sum(|book| book.refused),
            counter: sum(|book| book.counter),
            lost: sum(Book::lost),
        }
    };
    // Every write that was made is in the books of the plain store, which takes them all.
    let (plain, fenced) = (store(|books| &books.plain), store(|books| &books.fenced));
    let mut overlaps = histogram::empty();
    safety::overlap_lengths(acquisitions, length).into_iter().for_each(|nanos| histogram::record(&mut overlaps, nanos));
    let figures = SplitBrain {
        updates: plain.acknowledged,
        stale: stale.len() as u64,
        plain: Store { stale_acknowledged: stale.len() as u64, ..plain },
        fenced: Store { stale_acknowledged: stale.iter().filter(|update| update.fenced).count() as u64, ..fenced },
        overlap_ms: lengths(&overlaps),
    };
    let stale = stale.into_iter().take(MOST_STALE).map(|update| StaleWrite {
        resource: update.resource,
        worker: update.worker,
        seconds: update.written_at as f64 / 1e9,
    });
    Some(MeasuredSplitBrain { figures, stale: stale.collect(), overlaps })
}

fn lengths(overlaps: &Micros) -> Overlaps {
    let figures = histogram::latency(overlaps);
    let min = (!overlaps.is_empty()).then(|| histogram::millis(overlaps.min()));
    Overlaps { count: figures.count, min, p50: figures.p50, max: figures.max }
}

/// The updates that were written after somebody with a later grant had read or written: worked out from the moments and tokens alone,
/// not from what the stores answered. In the order of their writes.
fn stale(log: &[Update]) -> Vec<Update> {
    /// When, by which token, and what was written.
    type End<'a> = (u64, i64, Option<&'a Update>);
    // Both ends of each update, by lock and time; of a read that no write followed the one.
    let mut ends: BTreeMap<u32, Vec<End<'_>>> = BTreeMap::new();
    for update in log {
        let of_lock = ends.entry(update.resource).or_default();
        of_lock.push((update.read_at, update.token, None));
        if update.written_at != 0 {
            of_lock.push((update.written_at, update.token, Some(update)));
        }
    }
    let mut stale = Vec::new();
    for ends in ends.values_mut() {
        ends.sort_by_key(|(at, token, _)| (*at, *token));
        let mut highest = i64::MIN;
        for (_, token, written) in ends {
            if let Some(update) = written.filter(|_| highest > *token) {
                stale.push(*update);
            }
            highest = highest.max(*token);
        }
    }
    stale.sort_by_key(|update| update.written_at);
    stale
}

/// The same with what the counter lost. Where a holder wrote late that had been stopped or cut off, the scenario has asked for what the
/// plain store lost of that lock; a fenced store must lose nothing, whatever happens.
pub fn with_updates(updates: &Updates, acquisitions: &[Acquisition], asked: bool, safety: Safety) -> Safety {
    if updates.books.is_empty() {
        return safety;
    }
    let struck: BTreeSet<(u32, i64)> =
        acquisitions.iter().filter(|one| one.struck).map(|one| (one.resource, one.token)).collect();
    let excused: BTreeSet<u32> = stale(&updates.log)
        .into_iter()
        .filter(|update| struck.contains(&(update.resource, update.token)))
        .map(|update| update.resource)
        .collect();
    let (mut lost, mut lost_asked) = (0, 0);
    for (resource, books) in (0..).zip(&updates.books) {
        let plain = if asked || excused.contains(&resource) { &mut lost_asked } else { &mut lost };
        *plain += books.plain.lost();
        *if asked { &mut lost_asked } else { &mut lost } += books.fenced.lost();
    }
    Safety { lost_updates: Some(lost), lost_updates_asked: lost_asked, ..safety }
}

/// All trials of an arm in one; `None` where no counter was kept.
pub fn merge(trials: &[&MeasuredSplitBrain]) -> Option<SplitBrain> {
    if trials.is_empty() {
        return None;
    }
    let mut overlaps = histogram::empty();
    trials.iter().for_each(|trial| histogram::merge(&mut overlaps, &trial.overlaps));
    let store = |of: fn(&SplitBrain) -> &Store| {
        let sum = |figure: fn(&Store) -> u64| trials.iter().map(|trial| figure(of(&trial.figures))).sum();
        Store {
            acknowledged: sum(|store| store.acknowledged),
            stale_acknowledged: sum(|store| store.stale_acknowledged),
            refused: sum(|store| store.refused),
            counter: sum(|store| store.counter),
            lost: sum(|store| store.lost),
        }
    };
    Some(SplitBrain {
        updates: trials.iter().map(|trial| trial.figures.updates).sum(),
        stale: trials.iter().map(|trial| trial.figures.stale).sum(),
        plain: store(|figures| &figures.plain),
        fenced: store(|figures| &figures.fenced),
        overlap_ms: lengths(&overlaps),
    })
}

/// What a control came to, from the figures of its arm; `None` for an arm that is none.
pub fn control(
    settings: &WorkerSettings,
    safety: &Safety,
    notifications: &Notifications,
    fan_out: &FanOut,
    grants: u64,
) -> Option<Control> {
    if !settings.is_control() {
        return None;
    }
    let kind = if settings.recipe == Recipe::Unlocked { ControlKind::Unlocked } else { ControlKind::SharedSessions };
    // One event for each session and path, which the library hands to every worker: the servers count fewer than the workers.
    let collapsed =
        kind == ControlKind::SharedSessions && notifications.server.is_some_and(|server| server < notifications.client);
    let collided = safety.overlaps_asked > 0 || safety.token_regressions_asked > 0;
    Some(Control {
        kind,
        sessions: settings.sessions,
        caught: collided || collapsed,
        server_fan_out: notifications.server.and_then(|server| per(server, grants)),
        client_fan_out: fan_out.mean,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use workloads::shared_counter::Books;

    fn update(token: i64, read_at: u64, written_at: u64, fenced: bool) -> Update {
        Update { worker: 0, resource: 0, token, read_at, written_at, read: 0, read_fenced: 0, fenced }
    }

    #[test]
    fn a_write_is_stale_when_a_later_grant_has_read() {
        let log = [update(1, 10, 50, false), update(2, 40, 60, true), update(2, 60, 70, true)];
        let found: Vec<u64> = stale(&log).iter().map(|update| update.written_at).collect();
        assert_eq!(found, [50]);
        assert!(stale(&[update(1, 10, 50, true), update(2, 51, 60, true)]).is_empty());
        assert_eq!(stale(&[update(2, 40, 0, false), update(1, 10, 50, false)]).len(), 1, "although it never wrote");
    }

    fn lost_one(struck: bool) -> (Updates, [Acquisition; 1]) {
        let plain = Book { acknowledged: 3, counter: 2, ..Book::default() };
        let books = vec![Books { plain, fenced: Book { acknowledged: 2, refused: 1, refused_reads: 0, counter: 2 } }];
        let log = vec![update(2, 40, 45, true), update(1, 10, 50, false), update(2, 60, 70, true)];
        let acquisition = Acquisition { token: 1, granted: 5, struck, ..Acquisition::called(0, 0, 1, 1) };
        (Updates { books, log, dropped: 0 }, [acquisition])
    }

    #[test]
    fn lost_updates_are_asked_for_where_a_holder_that_was_stopped_wrote_late() {
        let judged = |struck, asked| {
            let (updates, acquisitions) = lost_one(struck);
            let safety = with_updates(&updates, &acquisitions, asked, Safety::default());
            (safety.lost_updates, safety.lost_updates_asked)
        };
        assert_eq!(judged(true, false), (Some(0), 1));
        assert_eq!(judged(false, false), (Some(1), 0));
        assert_eq!(judged(false, true), (Some(0), 1), "a control asks for everything");
        let nothing = with_updates(&Updates::default(), &[], false, Safety::default());
        assert_eq!(nothing.lost_updates, None, "where no counter is kept there is nothing to say");
    }

    #[test]
    fn what_the_fenced_store_loses_nobody_asks_for() {
        let (mut updates, acquisitions) = lost_one(true);
        updates.books[0].fenced.counter = 1;
        assert_eq!(with_updates(&updates, &acquisitions, false, Safety::default()).lost_updates, Some(1));
    }

    #[test]
    fn both_stores_are_told_side_by_side() {
        let (updates, acquisitions) = lost_one(true);
        let figures = measure(&updates, &acquisitions, 100).unwrap().figures;
        let plain = Store { acknowledged: 3, stale_acknowledged: 1, refused: 0, counter: 2, lost: 1 };
        let fenced = Store { acknowledged: 2, stale_acknowledged: 0, refused: 1, counter: 2, lost: 0 };
        assert_eq!((figures.updates, figures.stale, figures.plain, figures.fenced), (3, 1, plain, fenced));
        assert!(measure(&Updates::default(), &acquisitions, 100).is_none());
    }
}
