//! Panels with a name for each row and one axis of numbers. Names stand above their bars, so that a long one has the whole
//! width, on a phone too; what a bar says in numbers stands at its right.

use plotters::prelude::*;

use super::axis::{Axis, Ticked};
use super::bars;
use super::ink::{self, Area, End, Failure, Place, fit, write};
use super::panel::Rows;
use crate::report::palette::{AXIS, GRID, MUTED, SURFACE, TEXT};

/// Heights in pixels: the heading, a group's name, a bar, the space between groups, and what is below the bars.
const TITLE: i32 = 26;
const GROUP: i32 = 20;
const BAR: i32 = 20;
const SPACE: i32 = 12;
const TICKS: i32 = 22;
const NAME: i32 = 18;

/// How high the panel is.
pub(super) fn height(rows: &Rows) -> i32 {
    let bars: i32 = rows.groups.iter().map(|group| GROUP + BAR * length(group.bars.len()) + SPACE).sum();
    TITLE * i32::from(!rows.title.is_empty()) + bars + TICKS + NAME
}

fn length(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

/// Draws the panel.
pub(super) fn draw<'a>(root: &Area<'a>, rows: &Rows, place: Place) -> Result<(), Failure<'a>> {
    let mut y = place.y;
    if !rows.title.is_empty() {
        let title = fit(&rows.title, f64::from(place.width) / 1.1);
        write(root, &title, (place.x, y + 10), End::Left, TEXT, true)?;
        y += TITLE;
    }
    let texts = rows.groups.iter().flat_map(|group| &group.bars).map(|bar| ink::width(&bar.text));
    let beside = texts.fold(0.0, f64::max).ceil() as i32 + 14;
    let (left, right) = (place.x + 4, place.x + place.width - beside);
    let bottom = y + height(rows) - TITLE * i32::from(!rows.title.is_empty()) - TICKS - NAME;

    let ticks = rows.x.ticks(f64::from(right - left), ink::width);
    // The first and the last tick's text are centred below their ticks, and may not leave the panel on the left.
    let ticks: Vec<f64> = ticks
        .into_iter()
        .filter(|tick| {
            let middle = f64::from(left) + rows.x.place(*tick) * f64::from(right - left);
            let half = ink::width(&rows.x.text(*tick)) / 2.0;
            middle - half >= f64::from(place.x - 8).max(0.0) && middle + half <= f64::from(place.x + place.width)
        })
        .collect();
    let frame = root.clone().shrink((left, y), (right - left, bottom - y + TICKS));
    let upright = Ticked { axis: Axis::between("", 0.0, 1.0), ticks: Vec::new() };
    let mut chart = ChartBuilder::on(&frame)
        .set_label_area_size(LabelAreaPosition::Bottom, TICKS)
        .build_cartesian_2d(Ticked { axis: rows.x.clone(), ticks }, upright)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .bold_line_style(GRID.rgb())
        .light_line_style(TRANSPARENT)
        .axis_style(AXIS.rgb())
        .set_all_tick_mark_size(4)
        .label_style(ink::style(MUTED, false))
        .draw()?;
    let name = fit(&rows.x.name, f64::from(place.width));
    write(root, &name, (place.x, bottom + TICKS + NAME / 2), End::Left, MUTED, false)?;

    let at = |value: f64| left + (rows.x.place(rows.x.clamp(value)) * f64::from(right - left)).round() as i32;
    for group in &rows.groups {
        let name = fit(&group.name, f64::from(place.width));
        on_a_patch(root, &name, (place.x + 4, y + GROUP / 2 + 2))?;
        y += GROUP;
        for bar in &group.bars {
            on_a_patch(root, &bar.text, (at(bars::reach(bar)).max(left) + 12, y + BAR / 2))?;
            bars::draw(root, bar, y + BAR / 2, &at, left)?;
            y += BAR;
        }
        y += SPACE;
    }
    Ok(())
}

/// Writes on a patch of the surface, so that no line of the grid runs through the text.
fn on_a_patch<'a>(root: &Area<'a>, text: &str, (x, y): (i32, i32)) -> Result<(), Failure<'a>> {
    // The estimate is an upper one; a patch of nine tenths of it covers the text in most typefaces.
    let width = (ink::width(text) * 0.9).ceil() as i32;
    root.draw(&Rectangle::new([(x - 2, y - 8), (x + width, y + 8)], SURFACE.rgb().filled()))?;
    write(root, text, (x, y), End::Left, TEXT, false)
}
