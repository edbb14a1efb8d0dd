//! Panels with two axes of numbers.

use plotters::prelude::*;

use super::axis::Ticked;
use super::ink::{self, Area, End, Failure, Place, SIZE, fit, write};
use super::panel::{Band, Mark, Plot};
use super::{bars, fitted};
use crate::report::palette::{self, AXIS, GRID, HEAT, MUTED, Phase, TEXT};

/// Height of a line of text above the plot, pixels.
const LINE: i32 = 20;

/// Below the plot: the ticks' texts, then the axis's name.
const TICKS: i32 = 22;
const NAME: i32 = 18;

/// The shapes on a line stand about this many pixels apart; closer ones would hide it.
const SHAPE_EVERY: i32 = 72;

/// Stems of different arms that would coincide stand this many pixels apart.
const ASIDE: i32 = 6;

/// Height of the strip along the upper edge that says until when a fault was there, pixels.
const STRIP: i32 = 5;

/// How strong the colour of a column is: a band is seen through it, and a line over it.
pub(super) const COLUMN: f64 = 0.55;

/// Dots are small where they have no more than so many pixels each.
const DOT: i32 = 11;

/// The shapes of stems no longer than so many pixels are small: many such stand side by side, and would hide one another.
const SHORT_STEM: i32 = 12;

/// Draws the panel.
pub(super) fn draw<'a>(root: &Area<'a>, plot: &Plot, place: Place) -> Result<(), Failure<'a>> {
    let titled = i32::from(!plot.title.is_empty());
    if titled > 0 {
        let title = fit(&plot.title, f64::from(place.width) / 1.1);
        write(root, &title, (place.x, place.y + LINE / 2), End::Left, TEXT, true)?;
    }
    let y_name = fit(&plot.y.name, f64::from(place.width));
    write(root, &y_name, (place.x, place.y + titled * LINE + LINE / 2), End::Left, MUTED, false)?;

    let top = (titled + 1) * LINE + 8;
    let plot_height = place.height - top - TICKS - NAME;
    let y_ticks = plot.y.ticks(f64::from(plot_height), |_| SIZE + 6.0);
    let widest = y_ticks.iter().map(|tick| ink::width(&plot.y.text(*tick))).fold(0.0, f64::max);
    let left = widest.ceil() as i32 + 10;
    // Half of the last tick's text may stand out to the right.
    let right = (ink::width(&plot.x.text(plot.x.clamp(f64::MAX))) / 2.0).ceil().clamp(10.0, 40.0) as i32;
    let plot_width = place.width - left - right;
    let x_ticks = plot.x.ticks(f64::from(plot_width), ink::width);

    let frame = root.clone().shrink((place.x, place.y + top), (place.width - right, plot_height + TICKS));
    let mut chart = ChartBuilder::on(&frame)
        .set_label_area_size(LabelAreaPosition::Left, left)
        .set_label_area_size(LabelAreaPosition::Bottom, TICKS)
        .build_cartesian_2d(
            Ticked { axis: plot.x.clone(), ticks: x_ticks },
            Ticked { axis: plot.y.clone(), ticks: y_ticks },
        )?;
    let ground = chart.backend_coord(&(plot.x.low(), plot.y.low())).1;
    for mark in &plot.marks {
        if let Mark::Bands(bands) = mark {
            for band in bands {
                let edge = |x: f64| chart.backend_coord(&(plot.x.clamp(x), plot.y.low())).0;
                draw_band(root, band, (edge(band.x.0), edge(band.x.1)), (ground - plot_height, ground))?;
            }
        }
    }
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID.rgb())
        .light_line_style(TRANSPARENT)
        .axis_style(AXIS.rgb())
        .set_all_tick_mark_size(4)
        .label_style(ink::style(MUTED, false))
        .draw()?;
    let name = fit(&plot.x.name, f64::from(plot_width));
    let below = place.y + place.height - NAME / 2;
    write(root, &name, (place.x + place.width - right, below), End::Right, MUTED, false)?;

    let at = |(x, y): (f64, f64)| chart.backend_coord(&(x, y));
    for rule in plot.rules.iter().filter(|rule| plot.x.holds(**rule)) {
        bars::dashes(root, at((*rule, plot.y.low())).0, (ground - plot_height, ground))?;
    }
    for mark in &plot.marks {
        draw_mark(root, plot, mark, &at, ground)?;
    }
    Ok(())
}

/// Draws a stretch of a failover behind the lines of the grid, between these edges and heights.
pub(super) fn draw_band<'a>(
    root: &Area<'a>,
    band: &Band,
    (left, right): (i32, i32),
    (top, ground): (i32, i32),
) -> Result<(), Failure<'a>> {
    let (strength, bottom) = match band.phase {
        Phase::Unnoticed => (0.22, ground),
        // Stronger, since it is short.
        Phase::Takeover => (0.5, ground),
        Phase::Mending => (0.8, top + STRIP),
    };
    let fill = palette::phase(band.phase).rgb().mix(strength).filled();
    root.draw(&Rectangle::new([(left, top), (right.max(left + 1), bottom)], fill))
}

fn draw_mark<'a>(
    root: &Area<'a>,
    plot: &Plot,
    mark: &Mark,
    at: &impl Fn((f64, f64)) -> (i32, i32),
    ground: i32,
) -> Result<(), Failure<'a>> {
    let inside = |points: &[(f64, f64)]| -> Vec<(i32, i32)> {
        let held = points.iter().filter(|(x, y)| plot.x.holds(*x) && plot.y.holds(*y));
        let mut places: Vec<(i32, i32)> = held.map(|point| at(*point)).collect();
        places.dedup();
        places
    };
    match mark {
        Mark::Line { arm, points } => {
            let places = inside(points);
            let long = places.last().zip(places.first()).map_or(0, |(last, first)| last.0 - first.0);
            let shapes = usize::try_from(long / SHAPE_EVERY).unwrap_or(0).max(1);
            let every = places.len().div_ceil(shapes).max(1);
            // Arms start their shapes at different points, so that they do not hide one another where lines coincide.
            let shapes: Vec<(i32, i32)> = places.iter().copied().skip(arm * every / 3 % every).step_by(every).collect();
            if places.len() > 1 {
                ink::line(root, *arm, places)?;
            }
            for place in shapes {
                ink::marker(root, *arm, place, 3)?;
            }
        }
        Mark::Thread { arm, points } => {
            let places = inside(points);
            if places.len() > 1 {
                root.draw(&PathElement::new(places, palette::arm(*arm).rgb().stroke_width(1)))?;
            }
        }
        Mark::Dots { arm, points } => {
            let room = at((plot.x.clamp(f64::MAX), plot.y.low())).0 - at((plot.x.low(), plot.y.low())).0;
            let number = plot.marks.iter().map(|mark| match mark {
                Mark::Dots { points, .. } => points.len(),
                _ => 0,
            });
            let each = room / i32::try_from(number.sum::<usize>().max(1)).unwrap_or(i32::MAX);
            let radius = if each > DOT { 4 } else { 2 };
            for place in inside(points) {
                ink::marker(root, *arm, place, radius)?;
            }
        }
        Mark::Stems { arm, points } => {
            let stroke = palette::arm(*arm).rgb().stroke_width(2);
            let earlier = plot.marks.iter().map_while(|mark| match mark {
                Mark::Stems { arm: other, points } if other != arm => Some(inside(points)),
                _ => None,
            });
            let earlier: Vec<Vec<(i32, i32)>> = earlier.collect();
            let edge = at((plot.x.clamp(f64::MAX), plot.y.low())).0;
            for (x, y) in inside(points) {
                // Beside the stem of an earlier arm with the same value, so that neither hides the other; within the panel.
                let near = |places: &&Vec<(i32, i32)>| places.iter().any(|place| (place.0 - x).abs() < ASIDE);
                let aside = ASIDE * i32::try_from(earlier.iter().filter(near).count()).unwrap_or(0);
                let x = if x + aside <= edge { x + aside } else { x - aside };
                root.draw(&PathElement::new(vec![(x, ground), (x, y)], stroke))?;
                ink::marker(root, *arm, (x, y), if ground - y > SHORT_STEM { 4 } else { 2 })?;
            }
        }
        Mark::Steps { arm, points, width } => {
            let edges = points.iter().flat_map(|(x, y)| [(*x, *y), (plot.x.clamp(x + width), *y)]);
            let stroke = palette::arm(*arm).rgb().stroke_width(2);
            root.draw(&PathElement::new(inside(&edges.collect::<Vec<_>>()), stroke))?;
        }
        Mark::Columns { arm, points, width } => {
            let fill = palette::arm(*arm).rgb().mix(COLUMN).filled();
            for (x, y) in points.iter().filter(|(x, y)| plot.x.holds(*x) && plot.y.holds(*y) && *y > plot.y.low()) {
                let right = at((plot.x.clamp(x + width), *y)).0;
                let (left, top) = at((*x, *y));
                root.draw(&Rectangle::new([(left, top), (right.max(left + 1), ground)], fill))?;
            }
        }
        Mark::Area { arm, points } => fitted::area(root, plot, *arm, points, at)?,
        Mark::Curve { arm, points, beyond } => fitted::curve(root, plot, *arm, points, *beyond, at)?,
        Mark::Whiskers { arm, points } => fitted::whiskers(root, plot, *arm, points, at)?,
        Mark::Level { at: level, text } => fitted::level(root, plot, *level, text, at)?,
        Mark::Texts(texts) => fitted::texts(root, plot, texts, at)?,
        // Drawn before, below the grid.
        Mark::Bands(_) => {}
        Mark::Heat(cells) => {
            for cell in cells {
                let corners = [(cell.x.0, cell.y.0), (cell.x.1, cell.y.1)];
                let corners = corners.map(|(x, y)| at((plot.x.clamp(x), plot.y.clamp(y))));
                let level = HEAT[cell.level.min(HEAT.len() - 1)];
                root.draw(&Rectangle::new(corners, level.rgb().filled()))?;
            }
        }
    }
    Ok(())
}
