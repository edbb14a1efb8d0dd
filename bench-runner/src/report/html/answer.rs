//! What stands first: what has to be known before anything is believed, the answer, and the figures it rests on.

use maud::{Markup, html};

use crate::measure::figures::{Arm, Contrast};
use crate::report::format::{Unit, plain, trimmed};
use crate::report::headline::{ABOUT_EQUAL, headline, is_about_equal};
use crate::report::notices::{Level, Notice, notices};
use crate::results::summary::Summary;

/// Alarms, the answer, its figures.
pub(super) fn section(summary: &Summary) -> Markup {
    html! {
        @for notice in notices(summary).iter().filter(|notice| notice.level != Level::Caution) { (banner(notice)) }
        section.answer aria-label="The answer" {
            @for sentence in headline(summary).sentences { p.headline { (sentence) } }
            @for contrast in &summary.contrasts { (tiles(summary, contrast)) }
        }
    }
}

/// What to bear in mind when reading the table above it.
pub(super) fn cautions(summary: &Summary) -> Markup {
    html! {
        @for notice in notices(summary).iter().filter(|notice| notice.level == Level::Caution) { (banner(notice)) }
    }
}

fn banner(notice: &Notice) -> Markup {
    let (class, role) = match notice.level {
        Level::Violation => ("banner violation", "alert"),
        Level::Alarm => ("banner alarm", "alert"),
        Level::Caution => ("banner caution", "note"),
    };
    html! {
        div class=(class) role=(role) {
            p { strong { (notice.title) } " " (notice.text) }
            @if !notice.remedy.is_empty() { p.remedy { (notice.remedy) } }
        }
    }
}

/// A figure of the contrast, large: its name, the ratio or pair, and what it is of.
struct Tile {
    name: &'static str,
    value: String,
    detail: String,
}

fn tiles(summary: &Summary, contrast: &Contrast) -> Markup {
    let find = |label: &str| summary.arms.iter().find(|arm| arm.label == label);
    let Some((naive, free)) = find(&contrast.naive).zip(find(&contrast.herd_free)) else { return html! {} };
    let pair = |of: fn(&Arm) -> Option<f64>, unit: Unit| {
        of(naive).zip(of(free)).map(|(many, few)| {
            let (many, few) = (unit.figure(many, None).trimmed(), unit.figure(few, None).trimmed());
            match many.symbol == few.symbol {
                true => format!("{} → {few}", many.value),
                false => format!("{many} → {few}"),
            }
        })
    };
    // Costs: naive over herd-free, so that above 1 the herd is dearer.
    let less = |ratio: f64| match ratio {
        ratio if (ratio - 1.0).abs() <= ABOUT_EQUAL => "about the same".to_owned(),
        ratio if ratio > 1.0 => format!("{} times less", trimmed(ratio)),
        ratio if ratio > 0.0 => format!("{} times more", trimmed(1.0 / ratio)),
        _ => String::new(),
    };
    let cost = |name, ratio: Option<f64>, of, unit| {
        ratio.map(|ratio| Tile { name, value: pair(of, unit).unwrap_or_default(), detail: less(ratio) })
    };
    let tiles = [
        contrast.throughput.map(|ratio| Tile {
            name: "Grants per second",
            value: pair(|arm| Some(arm.grants_per_second.mean), Unit::Number).unwrap_or_default(),
            detail: match is_about_equal(&ratio) {
                true => "about the same".to_owned(),
                false => format!("{} times as many", trimmed(ratio.mean)),
            },
        }),
        cost("Fan-out per release", contrast.fan_out, |arm| arm.fan_out.mean, Unit::Number),
        cost("Requests per grant", contrast.requests_per_grant, |arm| arm.requests.per_grant, Unit::Number),
        cost("Bystander p99", contrast.bystander_p99, |arm| arm.bystander_ms.during.p99, Unit::Milliseconds),
    ];
    let tiles: Vec<Tile> = tiles.into_iter().flatten().collect();
    if tiles.is_empty() {
        return html! {};
    }
    html! {
        p.from-to { (plain(&contrast.naive)) " → " (plain(&contrast.herd_free)) }
        dl.tiles {
            @for tile in &tiles {
                div {
                    dt { (tile.name) }
                    dd.value { (tile.value) }
                    dd.detail { (tile.detail) }
                }
            }
        }
    }
}
