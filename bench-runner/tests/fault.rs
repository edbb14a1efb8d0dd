//! A panic reaches the user as an error of this program, from whichever thread. Alone in its process: what is done about
//! panics holds for all of them.

use bench_runner::{exit, fault};

#[test]
fn a_panic_is_an_internal_error_with_its_place() {
    assert_eq!(fault::contain(|| exit::ENSEMBLE), exit::ENSEMBLE);
    assert_eq!(fault::seen(), None);

    // In a task, nobody but the hook notices it: the command goes on, and must not end as if nothing had been.
    let done = fault::contain(|| {
        let _ = std::thread::spawn(|| panic!("the worker lost count")).join();
        exit::DONE
    });
    assert_eq!(done, exit::INTERNAL);
    let seen = fault::seen().unwrap();
    assert!(seen.starts_with("internal error: the worker lost count (") && seen.contains("fault.rs:"), "{seen}");
    assert!(fault::message(seen).contains("please report it"));

    assert_eq!(fault::contain(|| panic!("in the command itself")), exit::INTERNAL);
    assert!(fault::seen().unwrap().contains("lost count"), "the first is the one to report");
}
