//! Gives each panel its place, and draws the whole.

use plotters::prelude::*;

use super::ink::{Area, Failure, Place};
use super::panel::{Panel, Picture};
use super::{legend, rows, xy};
use crate::report::palette::SURFACE;
use crate::report::view::ArmView;

/// How wide a chart is drawn. An SVG that was made for a desk has unreadable text on a phone, so each is drawn for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Width {
    /// For a desk.
    Wide,
    /// For a phone.
    Narrow,
}

/// Space between panels, pixels.
const GAP: i32 = 28;

/// Space around everything, pixels.
const MARGIN: i32 = 8;

impl Width {
    fn pixels(self) -> i32 {
        match self {
            Width::Wide => 960,
            Width::Narrow => 360,
        }
    }

    /// How high a plot is where `columns` stand beside one another.
    fn plot_height(self, columns: usize) -> i32 {
        match (self, columns) {
            (Width::Narrow, _) => 280,
            (Width::Wide, 1) => 400,
            (Width::Wide, 2) => 340,
            (Width::Wide, _) => 290,
        }
    }
}

/// Draws a picture as an SVG document.
///
/// # Errors
/// Where plotters fails, with its message; drawing into memory, it has no reason to.
pub(in crate::report) fn draw(picture: &Picture, arms: &[ArmView], width: Width) -> Result<String, String> {
    let columns = match width {
        Width::Wide => picture.columns.clamp(1, picture.panels.len().max(1)),
        Width::Narrow => 1,
    };
    let inner = width.pixels() - 2 * MARGIN;
    let number = i32::try_from(columns).unwrap_or(1);
    let panel_width = (inner - GAP * (number - 1)) / number;
    let top = MARGIN + legend::height(&picture.key, arms, inner);

    let mut places = Vec::new();
    let mut y = top;
    for row in picture.panels.chunks(columns) {
        let height = row.iter().map(|panel| panel_height(panel, width, columns)).max().unwrap_or(0);
        let mut x = MARGIN;
        for panel in row {
            places.push((panel, Place { x, y, width: panel_width, height }));
            x += panel_width + GAP;
        }
        y += height + GAP;
    }
    let height = y - GAP + MARGIN;

    let mut svg = String::new();
    let size = (width.pixels().unsigned_abs(), height.max(2 * MARGIN).unsigned_abs());
    paint(&mut svg, size, picture, arms, &places, inner).map_err(|error| error.to_string())?;
    Ok(compact(&svg))
}

fn panel_height(panel: &Panel, width: Width, columns: usize) -> i32 {
    match panel {
        Panel::Plot(_) => width.plot_height(columns),
        Panel::Rows(panel) => rows::height(panel),
    }
}

fn paint<'a>(
    svg: &'a mut String,
    size: (u32, u32),
    picture: &Picture,
    arms: &[ArmView],
    places: &[(&Panel, Place)],
    inner: i32,
) -> Result<(), Failure<'a>> {
    let root: Area<'a> = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&SURFACE.rgb())?;
    legend::draw(&root, &picture.key, arms, (MARGIN, MARGIN), inner)?;
    for (panel, place) in places {
        match panel {
            Panel::Plot(plot) => xy::draw(&root, plot, *place)?,
            Panel::Rows(panel) => rows::draw(&root, panel, *place)?,
        }
    }
    root.present()
}

/// Drops attributes that say what is so anyway: a third of a heat map's size. They cannot occur inside a text, in which
/// plotters writes quotes as entities.
fn compact(svg: &str) -> String {
    svg.replace(" opacity=\"1\"", "").replace(" stroke=\"none\"", "").replace("\n</text>", "</text>")
}
