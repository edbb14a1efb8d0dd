//! The report in a real browser: light and dark, on a desk and on a phone. Nothing may be clipped, overlap, be hard to
//! read, complain on the console, or be asked of anybody. The pages are left in the target folder's `tmp/` to look at.

mod browser;
mod sample;

use std::collections::BTreeMap;

use bench_runner::report;
use browser::{Theme, visit};

const DESK: u32 = 1280;
const PHONE: u32 = 400;

fn every_sample_is_readable(theme: Theme) {
    let pages: Vec<(String, String)> =
        sample::all().iter().map(|(name, summary)| ((*name).to_owned(), report::html(summary))).collect();
    let charts: BTreeMap<String, usize> =
        sample::all().iter().map(|(name, summary)| ((*name).to_owned(), report::charts(summary).len())).collect();
    let visit = visit("samples", &pages, &[DESK, PHONE], theme);
    assert_eq!(visit.console, Vec::<String>::new(), "the console is silent");
    assert_eq!(visit.findings.len(), 2 * pages.len());
    let mut complaints = Vec::new();
    for found in &visit.findings {
        let place = format!("{} at {} px, {theme:?}", found.page, found.width);
        complaints.extend(found.complaints.iter().map(|complaint| format!("{place}: {complaint}")));
        assert_eq!(found.dark, theme == Theme::Dark, "{place}: the browser has the theme that was asked for");
        let background = if theme == Theme::Dark { "rgb(12, 16, 21)" } else { "rgb(246, 247, 249)" };
        assert_eq!(found.background, background, "{place}: the page follows the theme");
        let all = charts[&found.page];
        let expected = if found.width == DESK { (all, 0) } else { (0, all) };
        assert_eq!((found.wide_charts, found.narrow_charts), expected, "{place}: the charts fit the width");
        // The checker has really looked: a page without texts would pass everything.
        assert!(found.texts > 20, "{place}: {} texts", found.texts);
        assert!(found.chart_texts >= all * 4, "{place}: {} texts in {all} charts", found.chart_texts);
    }
    assert!(complaints.is_empty(), "{} complaints:\n  {}", complaints.len(), complaints.join("\n  "));
    let widths: Vec<u32> = visit.findings.iter().map(|found| found.width).collect();
    assert!(widths.contains(&DESK) && widths.contains(&PHONE), "{widths:?}");
}

#[test]
fn every_sample_is_readable_in_light() {
    every_sample_is_readable(Theme::Light);
}

#[test]
fn every_sample_is_readable_in_dark() {
    every_sample_is_readable(Theme::Dark);
}

/// Windows between a phone and a desk, and the narrowest that pages are asked to reflow to.
#[test]
fn the_widths_in_between_are_readable_too() {
    let page = ("between".to_owned(), report::html(&sample::two_arms()));
    let visit = visit("between", &[page], &[960, 861, 860, 640, 320], Theme::Light);
    assert_eq!(visit.console, Vec::<String>::new());
    assert_eq!(visit.findings.len(), 5);
    for found in &visit.findings {
        assert!(found.complaints.is_empty(), "{} px:\n  {}", found.width, found.complaints.join("\n  "));
    }
}

/// The checker sees what it is there to see: each broken page draws exactly the complaint that it was made for.
#[test]
fn a_broken_page_is_found_out() {
    let page =
        |body: &str| format!("<!DOCTYPE html><html><body style=\"background:#fff;color:#000\">{body}</body></html>");
    let chart = |texts: &str| {
        page(&format!(
            "<svg width=\"300\" height=\"100\"><rect width=\"300\" height=\"100\" fill=\"#FFFFFF\"/>{texts}</svg>"
        ))
    };
    let broken = [
        ("overlap in a chart", chart("<text x=\"20\" y=\"50\">one label</text><text x=\"40\" y=\"52\">another</text>")),
        ("clipped in a chart", chart("<text x=\"250\" y=\"50\">a label that is too long</text>")),
        ("low contrast in a chart", chart("<text x=\"20\" y=\"50\" fill=\"#dddddd\">pale</text>")),
        ("too small in a chart", chart("<text x=\"20\" y=\"50\" font-size=\"6\">tiny</text>")),
        ("the page scrolls sideways", page("<div style=\"width:3000px\">wide</div>")),
        ("out of its box", page("<div style=\"width:40px;white-space:nowrap\">longer than its box is</div>")),
        ("clipped", page("<div style=\"width:40px;overflow:hidden;white-space:nowrap\">longer than its box</div>")),
        ("overlap", page("<p>below</p><p style=\"margin-top:-30px\">above</p>")),
        ("low contrast", page("<p style=\"color:#ccc\">pale</p>")),
        ("refers to something", page("<img src=\"data:image/png;base64,AAAA\"><p>text</p>")),
        // Nobody listens on the discard port of this machine; that it was asked is what counts.
        ("requested", page("<img src=\"http://127.0.0.1:9/missing.png\"><p>text</p>")),
    ];
    let pages: Vec<(String, String)> =
        broken.iter().enumerate().map(|(at, (_, html))| (format!("broken-{at}"), html.clone())).collect();
    let found = visit("broken", &pages, &[PHONE], Theme::Light);
    for ((expected, _), found) in broken.iter().zip(&found.findings) {
        let wanted = format!("{expected}: ");
        assert!(
            found.complaints.iter().any(|complaint| complaint.starts_with(&wanted)),
            "{expected}: {:?}",
            found.complaints
        );
    }

    let loud = [("loud".to_owned(), page("<p>text</p><script>console.error('boo')</script>"))];
    let loud = visit("loud", &loud, &[PHONE], Theme::Light);
    assert!(loud.console.iter().any(|line| line.contains("boo")), "{:?}", loud.console);
    assert_eq!(loud.findings[0].complaints, Vec::<String>::new(), "a sound page draws no complaint");
}
