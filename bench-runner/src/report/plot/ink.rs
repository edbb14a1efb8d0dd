//! Texts and markers, and an estimate of how wide a text is.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use unicode_width::UnicodeWidthChar;

use crate::report::palette::{self, Ink, Shape};

/// What is drawn on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What may go wrong: in memory, nothing does.
pub(super) type Failure<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// The typeface: what the reader's system is set in.
pub(super) const FAMILY: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// Size of texts in pixels.
pub(super) const SIZE: f64 = 12.0;

/// plotters divides sizes by this when it writes SVG.
const SVG_FACTOR: f64 = 1.24;

/// A panel's place in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

/// A text's style.
pub(super) fn style(ink: Ink, bold: bool) -> TextStyle<'static> {
    let weight = if bold { FontStyle::Bold } else { FontStyle::Normal };
    (FAMILY, SIZE * SVG_FACTOR, weight).into_font().color(&ink.rgb())
}

/// Which end of a text its place is.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The text begins there.
    Left,
    /// The text ends there.
    Right,
}

/// Writes `text` with its vertical middle at `y`.
pub(super) fn write<'a>(
    area: &Area<'a>,
    text: &str,
    (x, y): (i32, i32),
    end: End,
    ink: Ink,
    bold: bool,
) -> Result<(), Failure<'a>> {
    let horizontal = match end {
        End::Left => HPos::Left,
        End::Right => HPos::Right,
    };
    area.draw(&Text::new(text.to_owned(), (x, y), style(ink, bold).pos(Pos::new(horizontal, VPos::Center))))
}

/// An upper estimate of a text's width in pixels. The typeface is the reader's, so it is made for the widest in use
/// (DejaVu Sans and Verdana); what is laid out by it stands clear in any.
pub(super) fn width(text: &str) -> f64 {
    let ems: f64 =
        text.chars()
            .map(|c| match c {
                'i' | 'j' | 'l' | '.' | ',' | '\'' | ':' | ';' | '|' | ' ' | '/' | '(' | ')' | 't' | 'f' | 'r'
                | '-' => 0.42,
                'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' | '±' | '×' | '→' => 1.0,
                'A'..='Z' | '_' => 0.78,
                c if c.is_ascii() => 0.65,
                c => c.width().unwrap_or(0) as f64 * 0.8,
            })
            .sum();
    ems * SIZE
}

/// `text` cut until it is at most `room` pixels wide.
pub(super) fn fit(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut) + width("…") > room {
            cut.pop();
            break;
        }
    }
    cut.push('…');
    cut
}

/// The arm's shape, about `radius` pixels around its middle.
pub(super) fn marker<'a>(area: &Area<'a>, arm: usize, (x, y): (i32, i32), radius: i32) -> Result<(), Failure<'a>> {
    let fill = palette::arm(arm).rgb().filled();
    let r = radius;
    let polygon = |points: &[(i32, i32)]| Polygon::new(points.to_vec(), fill);
    match palette::shape(arm) {
        Shape::Disc => area.draw(&Circle::new((x, y), r, fill)),
        Shape::Square => area.draw(&Rectangle::new([(x - r, y - r), (x + r, y + r)], fill)),
        Shape::Triangle => area.draw(&polygon(&[(x, y - r - 1), (x + r + 1, y + r), (x - r - 1, y + r)])),
        Shape::Diamond => area.draw(&polygon(&[(x, y - r - 1), (x + r + 1, y), (x, y + r + 1), (x - r - 1, y)])),
        Shape::Wedge => area.draw(&polygon(&[(x, y + r + 1), (x + r + 1, y - r), (x - r - 1, y - r)])),
    }
}

/// A line through `points` in the arm's colour and dash.
pub(super) fn line<'a>(area: &Area<'a>, arm: usize, points: Vec<(i32, i32)>) -> Result<(), Failure<'a>> {
    let stroke = palette::arm(arm).rgb().stroke_width(2);
    match palette::dash(arm) {
        None => area.draw(&PathElement::new(points, stroke)),
        Some((dash, gap)) => area.draw(&DashedPathElement::new(points, dash, gap, stroke)),
    }
}
