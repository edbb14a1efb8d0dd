//! The recording path allocates nothing. In a file of its own, since it takes over the allocator.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use workloads::record::{Acquisition, Capacity, EventKind, Recorder, RequestKind};

struct Counting;

thread_local! {
    /// Of this thread alone: those of the test harness are nobody's business.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // An error means that the thread is ending.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all is handed on to the system's allocator, as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread during `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn recording_allocates_nothing() {
    const GRANTS: i64 = 2000;
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1, "the allocator counts");
    let recorder = Recorder::new(Capacity { length: Duration::from_secs(60), grants: GRANTS as usize }, true);
    let counted = allocations(|| {
        recorder.open();
        for token in 1..=GRANTS {
            for kind in RequestKind::ALL {
                recorder.request(kind);
                recorder.response(kind, 100);
            }
            recorder.armed(token);
            recorder.armed(token);
            recorder.disarmed(token);
            recorder.ending(token);
            for kind in EventKind::ALL {
                recorder.notification(kind, Some(token));
                recorder.notification(kind, None);
            }
            let mut acquisition = Acquisition::called(1, 0, recorder.now(), recorder.now());
            acquisition.token = token;
            recorder.acquisition(acquisition);
        }
        // What finds no room does not make any.
        for token in 0..GRANTS * 10 {
            recorder.notification(EventKind::Deleted, Some(-1 - token));
        }
        recorder.close();
    });
    assert_eq!(counted, 0);
    let recording = recorder.finish(recorder.now());
    assert_eq!(recording.acquisitions.len(), GRANTS as usize);
    assert!(recording.untracked > 0);
}
