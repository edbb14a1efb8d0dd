//! What the report says and how it is built, without a browser.

mod sample;

use bench_runner::measure::figures::Arm;
use bench_runner::report;

/// Tables and sentences of every sample as they stand on a terminal.
#[test]
fn the_terminal_shows_every_sample() {
    for (name, summary) in sample::all() {
        insta::assert_snapshot!(name, report::terminal(&summary, false));
    }
}

#[test]
fn the_terminal_is_at_most_100_columns_wide() {
    for (name, summary) in sample::all() {
        for line in report::terminal(&summary, false).lines() {
            let columns = unicode_width::UnicodeWidthStr::width(line);
            assert!(columns <= report::COLUMNS, "{name}: {columns} columns: {line}");
        }
    }
}

#[test]
fn colour_only_when_asked_and_then_nothing_but_colour() {
    for (name, summary) in sample::all() {
        let plain = report::terminal(&summary, false);
        let styled = report::terminal(&summary, true);
        assert!(!plain.contains('\u{1b}'), "{name}");
        assert_eq!(anstream::adapter::strip_str(&styled).to_string(), plain, "{name}");
        assert!(name == "nothing" || styled.contains('\u{1b}'), "{name}");
    }
}

#[test]
fn nothing_from_outside_becomes_markup() {
    let hostile = sample::all().into_iter().find(|(name, _)| *name == "hostile").expect("among the samples").1;
    let page = report::html(&hostile);
    for tag in ["<script", "<img", "<b onclick", "<i>", "<u>", "<s>", "\u{1b}", "\u{0}"] {
        assert!(!page.contains(tag), "{tag:?} survived");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"), "the label is shown as it is");
    assert_eq!(page.matches("</title>").count(), 1);
    assert_eq!(page.matches("</pre>").count(), 1);
    for (name, svg) in report::charts(&hostile) {
        assert!(!svg.contains("<script") && !svg.contains('\u{1b}') && !svg.contains('\u{0}'), "{name}");
    }
}

#[test]
fn the_page_is_one_file_without_an_address() {
    // The hostile sample shows an address as text; that it stays text is checked above.
    for (name, summary) in sample::all().into_iter().filter(|(name, _)| *name != "hostile") {
        let page = report::html(&summary);
        for address in ["http://", "https://", "url(", "@import", " src=", " href="] {
            assert!(!page.contains(address), "{name} has {address}");
        }
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{name}");
        assert_eq!(page.matches("<h1>").count(), 1, "{name}");
    }
}

#[test]
fn every_chart_is_there_or_says_why_it_is_not() {
    for (name, summary) in sample::all().into_iter().filter(|(name, _)| *name != "nothing") {
        let page = report::html(&summary);
        let files = report::charts(&summary);
        assert_eq!(page.matches("<figure").count(), files.len(), "{name}");
        assert_eq!(page.matches("<svg").count(), 2 * files.len(), "{name}: each chart for the desk and for the phone");
        // Those of faults, and of two holders at once, are missed by nobody where there were none.
        let any = |of: fn(&Arm) -> bool| usize::from(summary.arms.iter().any(of));
        let proof = any(|arm| arm.split_brain.is_some() || arm.control.is_some());
        let all = 10 + 4 * any(|arm| arm.failovers.is_some()) + proof;
        assert_eq!(page.matches(" to show").count(), all - files.len(), "{name}: each says why");
        assert_eq!(page.matches("role=\"img\"").count(), 2 * files.len(), "{name}");
    }
    let names = |summary| -> Vec<String> { report::charts(&summary).into_iter().map(|(file, _)| file).collect() };
    let all = names(sample::failovers());
    assert_eq!(
        all,
        [
            "failover.svg",
            "detection-takeover.svg",
            "failover-fan-out.svg",
            "leadership.svg",
            "fan-out.svg",
            "spike.svg",
            "acquire.svg",
            "latency-over-time.svg",
            "handoff.svg",
            "stages.svg",
            "response-bytes.svg",
            "bystander.svg",
            "nodes.svg",
            "rates.svg",
        ]
    );
    assert_eq!(names(sample::two_arms()), all[4..], "without faults, none of faults");
}

/// What the table of the faults says of each: whom it struck, what became of the old holder, or why nothing was done.
#[test]
fn every_fault_has_its_row() {
    let (_, faults) = sample::all().into_iter().find(|(name, _)| *name == "faults").expect("among the samples");
    let page = report::html(&faults).replace(" class=\"\"", "");
    let rows = |page: &str| {
        page.split("<h2>Charts").next().map_or(0, |before| before.matches("<td>pause of the holder").count())
    };
    assert_eq!(rows(&page), 3, "one in each trial");
    for words in [
        "<td>worker 3</td><td>2 stale writes refused</td>",
        "<td>500 workers, 1 held</td><td>told before it acted</td>",
        "<td>zookeeper-2</td><td>–</td>",
        "<td>nobody</td><td>not carried out: nobody held it</td>",
        "is detected after 2.00 s to 2.75 s",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!report::html(&sample::two_arms()).contains("<h2>Faults"), "without faults there is no table of them");
}

/// What two holders at once came to, and why controls look as they do.
#[test]
fn split_brain_and_controls_are_told_in_words() {
    let (_, proof) = sample::all().into_iter().find(|(name, _)| *name == "proof").expect("among the samples");
    let page = report::html(&proof);
    for words in [
        "<h2>Split brain</h2>",
        "6 (20.0 %)",
        "1.21 s, 1.54 s, 1.90 s",
        "unlocked: caught",
        "shared sessions: caught",
        "4.93 for each release instead of 24.5",
        "one notification for each session and path",
        "shared leases: not caught",
        "Nothing was found.",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(report::violations(&proof).iter().any(|line| line.starts_with("shared leases: a control")));
    let without = report::html(&sample::two_arms());
    assert!(!without.contains("<h2>Split brain") && !without.contains("<h2>Negative controls"));
    let beliefs = report::charts(&proof).into_iter().find(|(file, _)| file == "beliefs.svg").expect("it is drawn");
    assert!(beliefs.1.contains("stale write") && beliefs.1.contains("believed to hold"));
}

#[test]
fn chart_files_are_documents_of_their_own() {
    for (file, svg) in report::charts(&sample::failovers()) {
        assert!(svg.starts_with("<svg width=\"960\""), "{file}");
        assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\""), "{file}");
        assert!(svg.trim_end().ends_with("</svg>"), "{file}");
        assert_eq!(svg.matches("<title>").count(), 1, "{file}");
        // Left in the target folder's `tmp/` to look at.
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
        std::fs::write(path, svg).expect("the target folder takes files");
    }
}

#[test]
fn the_answer_comes_first_and_is_the_same_everywhere() {
    let summary = sample::two_arms();
    let answer = report::headline(&summary).sentences;
    assert_eq!(
        answer,
        [
            "With 1,000 workers, lock/sequential granted the lock 23 times as often as lock/naive (21.2–24.8 over 3 pairs of \
             trials); with lock/naive, each release woke 987 workers instead of 1 and each grant cost 2,010 requests \
             instead of 5.02."
        ]
    );
    let page = report::html(&summary);
    let at = page.find(&answer[0]).expect("the sentence is on the page");
    assert!(at < page.find("<table").expect("a table"));
    let flat = report::terminal(&summary, false).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&answer[0]));
}

#[test]
fn the_same_summary_gives_the_same_report() {
    for (name, summary) in sample::all() {
        let json = serde_json::to_string(&summary).expect("it can be stored");
        let again = serde_json::from_str(&json).expect("and read again");
        assert_eq!(report::html(&summary), report::html(&again), "{name}");
        assert_eq!(report::terminal(&summary, true), report::terminal(&again, true), "{name}");
    }
}
