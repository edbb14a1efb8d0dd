//! How charts are drawn. A chart says *what* in a [`Picture`] of panels; this module lays the panels out for a width and
//! paints them with plotters, so that every chart has the same type, spacing, axes and legend.
//!
//! `axis` maps values to places and chooses ticks; `panel` is what a chart may ask for; `layout` gives each panel its place;
//! `xy` and `rows` paint the two kinds of panel; `legend` the key above them; `ink` the texts and markers; `bars` the
//! forms of a bar; `fitted` curves with their bands and limits.

mod axis;
mod bars;
mod fitted;
mod ink;
mod layout;
mod legend;
mod panel;
mod rows;
mod xy;

pub(super) use axis::Axis;
pub(super) use layout::{Width, draw};
pub(super) use legend::heat_level;
pub(super) use panel::{Band, Bar, Form, Group, HeatCell, Key, Mark, Panel, Picture, Plot, Rows, Sign};
