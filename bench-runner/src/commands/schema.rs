//! `bench-runner schema`: the JSON Schema of a format.

use super::{Failure, print};
use crate::cli::{SchemaArgs, SchemaOf};
use crate::{capacity, exit, results, scenario};

pub(super) fn schema(args: &SchemaArgs) -> Result<u8, Failure> {
    print(&match args.of {
        SchemaOf::Scenario => scenario::schema_text(),
        SchemaOf::Summary => results::schema::summary_schema_text(),
        SchemaOf::Capacity => capacity::schema::capacity_schema_text(),
    })?;
    Ok(exit::DONE)
}
