//! `bench-runner verify`: judges a stored run again, from its raw rows.

use super::{Failure, print, styled_stdout};
use crate::cli::{Format, VerifyArgs};
use crate::{exit, report, verify};

pub(super) fn verify(args: &VerifyArgs) -> Result<u8, Failure> {
    let found = verify::verify(&args.run).map_err(|error| Failure::Usage(error.to_string()))?;
    match args.format {
        Format::Human => print(&report::verification(&found, styled_stdout()))?,
        Format::Json => {
            let json = serde_json::to_string_pretty(&found).map_err(|error| Failure::Unfinished(error.to_string()))?;
            print(&format!("{json}\n"))?;
        }
    }
    Ok(if found.holds { exit::DONE } else { exit::UNSAFE })
}
