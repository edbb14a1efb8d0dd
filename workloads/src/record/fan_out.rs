//! Notifications by the instance that caused them.
//!
//! A waiter knows which *instance* it watches, by its token (ZooKeeper: the czxid of the znode, etcd: the create revision of
//! the key), so each notification is counted to the instance whose end caused it, not to whatever release happened to be the last. The same table counts the
//! watches that stand on each instance, which is how a settled drain knows that every waiter has armed its watch.
//!
//! It is an open-addressed hash table of fixed size with linear probing: a token claims a slot by one compare-and-swap,
//! and counting is one addition; nothing locks, allocates or moves. Tokens that no longer fit are counted as untracked,
//! and the results say so.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// What one instance caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceFanOut {
    /// The instance: ZooKeeper's czxid, etcd's create revision.
    pub token: i64,
    /// Notifications that its end caused.
    pub notifications: u32,
    /// When the first of them arrived, in nanoseconds since the start of the trial.
    pub first: u64,
    /// When the last of them arrived.
    pub last: u64,
}

#[derive(bytemuck::Zeroable)]
struct Entry {
    /// 0 while the slot is free: neither a czxid nor an etcd revision is ever 0.
    token: AtomicI64,
    /// Watches that stand on the instance.
    armed: AtomicU32,
    notifications: AtomicU32,
    /// The revision at which the instance ended; 0 while nobody has told.
    ended: AtomicI64,
    /// The arrival of the first notification, plus one so that 0 means none.
    first: AtomicU64,
    last: AtomicU64,
}

impl Entry {
    /// Takes one standing watch off, if there is one.
    fn take_watch(&self) -> bool {
        self.armed.fetch_update(Ordering::AcqRel, Ordering::Acquire, |armed| armed.checked_sub(1)).is_ok()
    }
}

/// How far a token may be from its home before it counts as untracked. Reached only when the table is all but full.
const MAX_PROBES: usize = 256;

pub(super) struct FanOutTable {
    entries: Box<[Entry]>,
    untracked: AtomicU64,
}

impl FanOutTable {
    /// A table that tracks `instances` instances at the least.
    pub(super) fn new(instances: usize) -> Self {
        let slots = (instances.max(512) * 2).next_power_of_two();
        FanOutTable { entries: bytemuck::zeroed_slice_box(slots), untracked: AtomicU64::new(0) }
    }

    fn entry(&self, token: i64) -> Option<&Entry> {
        let mask = self.entries.len() - 1;
        // Tokens are nearly consecutive, so the low bits spread them perfectly and keep neighbours in time neighbours in
        // memory. The high half of a zxid is the epoch, which changes with the ensemble's leader.
        let home = (token as u64 ^ (token as u64 >> 32).wrapping_mul(0x9E37_79B9)) as usize;
        for probe in 0..MAX_PROBES.min(self.entries.len()) {
            let entry = &self.entries[(home + probe) & mask];
            match entry.token.load(Ordering::Acquire) {
                found if found == token => return Some(entry),
                0 => match entry.token.compare_exchange(0, token, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Some(entry),
                    Err(found) if found == token => return Some(entry),
                    Err(_) => {}
                },
                _ => {}
            }
        }
        self.untracked.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// A watch on the instance stands. `false` if there was no room to note it.
    pub(super) fn armed(&self, token: i64) -> bool {
        let entry = self.entry(token);
        if let Some(entry) = entry {
            entry.armed.fetch_add(1, Ordering::AcqRel);
        }
        entry.is_some()
    }

    /// A watch on the instance was taken back before it fired. `false` if it was not noted as standing any more.
    pub(super) fn disarmed(&self, token: i64) -> bool {
        self.entry(token).is_some_and(Entry::take_watch)
    }

    /// The instance's owner ends it: its watches stand no longer, although their notifications are yet to come. Tells how
    /// many they were.
    pub(super) fn ending(&self, token: i64) -> u32 {
        self.entry(token).map_or(0, |entry| entry.armed.swap(0, Ordering::AcqRel))
    }

    /// The instance ended at this revision.
    pub(super) fn ended(&self, token: i64, at: i64) {
        if let Some(entry) = self.entry(token) {
            entry.ended.store(at, Ordering::Relaxed);
        }
    }

    /// The instance's end notified somebody. `true` if the watch was still noted as standing: nobody had announced the end,
    /// as when a session expires.
    pub(super) fn notified(&self, token: i64, now: u64) -> bool {
        let Some(entry) = self.entry(token) else { return false };
        entry.notifications.fetch_add(1, Ordering::Relaxed);
        let _ = entry.first.compare_exchange(0, now + 1, Ordering::Relaxed, Ordering::Relaxed);
        entry.last.fetch_max(now, Ordering::Relaxed);
        entry.take_watch()
    }

    /// Everything counted, by token, with what `late` counted by the revision at which an instance ended; and how many late
    /// notifications are of an instance whose end nobody told.
    pub(super) fn copy_with(&self, late: &FanOutTable) -> (Vec<InstanceFanOut>, u64) {
        let mut late: HashMap<i64, InstanceFanOut> =
            late.used().map(|(_, instance)| (instance.token, instance)).collect();
        let mut instances: Vec<InstanceFanOut> = self
            .used()
            .map(|(entry, mut instance)| {
                if let Some(late) = late.remove(&entry.ended.load(Ordering::Relaxed)) {
                    let is_first = instance.notifications == 0 || late.first < instance.first;
                    instance.first = if is_first { late.first } else { instance.first };
                    instance.last = instance.last.max(late.last);
                    instance.notifications += late.notifications;
                }
                instance
            })
            .collect();
        instances.sort_unstable_by_key(|instance| instance.token);
        (instances, late.values().map(|late| u64::from(late.notifications)).sum())
    }

    /// Everything counted, by token.
    #[cfg(test)]
    fn copy(&self) -> Vec<InstanceFanOut> {
        self.copy_with(&FanOutTable::new(1)).0
    }

    /// The slots that a token has claimed.
    fn used(&self) -> impl Iterator<Item = (&Entry, InstanceFanOut)> {
        self.entries.iter().filter(|entry| entry.token.load(Ordering::Acquire) != 0).map(|entry| {
            let instance = InstanceFanOut {
                token: entry.token.load(Ordering::Acquire),
                notifications: entry.notifications.load(Ordering::Relaxed),
                first: entry.first.load(Ordering::Relaxed).saturating_sub(1),
                last: entry.last.load(Ordering::Relaxed),
            };
            (entry, instance)
        })
    }

    /// Look-ups that found no room.
    pub(super) fn untracked(&self) -> u64 {
        self.untracked.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_notifications_go_to_the_instance_that_ended_then() {
        let (table, late) = (FanOutTable::new(8), FanOutTable::new(8));
        table.notified(5, 100);
        table.ended(5, 9);
        table.ended(7, 11);
        late.notified(9, 50);
        late.notified(9, 300);
        late.notified(11, 400);
        late.notified(99, 500);
        let (instances, of_nobody) = table.copy_with(&late);
        assert_eq!(instances[0], InstanceFanOut { token: 5, notifications: 3, first: 50, last: 300 });
        assert_eq!(instances[1], InstanceFanOut { token: 7, notifications: 1, first: 400, last: 400 });
        assert_eq!((instances.len(), of_nobody), (2, 1));
    }

    #[test]
    fn as_many_instances_as_were_asked_for_fit_and_what_goes_beyond_is_told() {
        const ROOM: i64 = 4000;
        let table = FanOutTable::new(ROOM as usize);
        // From two terms of the ensemble's leader, so that the tokens are not consecutive.
        let token = |number: i64| ((number % 2 + 1) << 32) + number;
        for number in 0..ROOM {
            table.notified(token(number), number as u64);
        }
        assert_eq!((table.copy().len() as i64, table.untracked()), (ROOM, 0));
        for number in 0..10 * ROOM {
            table.notified(token(number), number as u64);
        }
        let told: u64 = table.copy().iter().map(|instance| u64::from(instance.notifications)).sum();
        assert!(table.untracked() > 0);
        assert_eq!(told + table.untracked(), 11 * ROOM as u64);
    }

    #[test]
    fn what_finds_no_room_is_neither_armed_nor_ended() {
        let table = FanOutTable::new(1);
        let slots = table.entries.len() as i64;
        for token in 1..=slots {
            assert!(table.armed(token));
        }
        assert!(!table.armed(slots + 1) && !table.disarmed(slots + 1) && !table.notified(slots + 1, 5));
        assert_eq!((table.ending(slots + 1), table.untracked()), (0, 4));
        assert_eq!(table.ending(slots), 1);
    }

    #[test]
    fn the_first_and_the_last_notification_of_an_instance_are_kept() {
        let table = FanOutTable::new(10);
        for at in [0, 30, 20] {
            table.notified(5, at);
        }
        table.armed(4);
        let silent = InstanceFanOut { token: 4, notifications: 0, first: 0, last: 0 };
        assert_eq!(table.copy(), [silent, InstanceFanOut { token: 5, notifications: 3, first: 0, last: 30 }]);
    }
}
