//! temporary
use crate::failure::Failure;
/// temporary
pub fn reference() -> Result<(), Failure> {
    Ok(())
}
