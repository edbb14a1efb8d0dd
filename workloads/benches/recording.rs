//! What recording costs: the limit is 100 ns for a request with its response, and no allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use workloads::record::{Acquisition, Capacity, EventKind, Recorder, RequestKind};

/// Counts allocations, so that "nothing allocated" is shown and not claimed.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn recorder(telemetry: bool) -> Recorder {
    let recorder = Recorder::new(Capacity { length: Duration::from_secs(60), grants: 1 << 16 }, telemetry);
    recorder.open();
    recorder
}

fn recording(criterion: &mut Criterion) {
    let on = recorder(true);
    let off = recorder(false);
    let mut group = criterion.benchmark_group("record");
    group.bench_function("request and response", |bencher| {
        bencher.iter(|| {
            on.request(black_box(RequestKind::Create));
            on.response(black_box(RequestKind::Create), black_box(140));
        });
    });
    group.bench_function("request and response, telemetry off", |bencher| {
        bencher.iter(|| {
            off.request(black_box(RequestKind::Create));
            off.response(black_box(RequestKind::Create), black_box(140));
        });
    });
    let mut token = 0;
    group.bench_function("watch armed and notified", |bencher| {
        bencher.iter(|| {
            // A thousand watches on each instance, as a herd sets them, and no more instances than there is room for.
            token = (token + 1) % 30_000_000;
            on.armed(black_box(1 + token / 1_000));
            on.notification(black_box(EventKind::Deleted), Some(black_box(1 + token / 1_000)));
        });
    });
    group.finish();

    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for number in 0..50_000 {
        on.request(RequestKind::GetData);
        on.response(RequestKind::GetData, 88);
        on.armed(number / 10 + 1);
        on.notification(EventKind::Deleted, Some(number / 10 + 1));
        on.acquisition(Acquisition::called(0, 0, 1, 1));
    }
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    println!("allocations while 50,000 requests, notifications and acquisitions were recorded: {allocations}");
    assert_eq!(allocations, 0, "the recording path allocated");
}

criterion_group!(benches, recording);
criterion_main!(benches);
