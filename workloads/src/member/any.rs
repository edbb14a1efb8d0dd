//! Any of the barriers of a service, chosen by its name.

use crate::recipe::RecipeError;
use crate::recipe::barrier::{DoubleBarrier, Entered, SingleBarrier, Witness};
use crate::settings::Recipe;

/// What a member has of one barrier, by the service's own types.
pub(crate) enum AnyBarrier<Single, Double, NaiveDouble> {
    /// `barrier/single`.
    Single(Single),
    /// `barrier/double`.
    Double(Double),
    /// `barrier/double-naive`.
    NaiveDouble(NaiveDouble),
}

impl<Single, Double, NaiveDouble> AnyBarrier<Single, Double, NaiveDouble> {
    /// The recipe, made by one of the three; `None` for a recipe that is no barrier.
    pub fn new(
        recipe: Recipe,
        single: impl FnOnce() -> Single,
        double: impl FnOnce() -> Double,
        naive_double: impl FnOnce() -> NaiveDouble,
    ) -> Option<Self> {
        match recipe {
            Recipe::SingleBarrier => Some(AnyBarrier::Single(single())),
            Recipe::DoubleBarrier => Some(AnyBarrier::Double(double())),
            Recipe::NaiveDoubleBarrier => Some(AnyBarrier::NaiveDouble(naive_double())),
            _ => None,
        }
    }
}

/// The error of a verb that the recipe does not have. No member calls one.
fn has_no(verb: &str) -> RecipeError {
    RecipeError::Service(format!("this barrier has no {verb}"))
}

impl<A: Send, B: DoubleBarrier, C: DoubleBarrier> DoubleBarrier for AnyBarrier<A, B, C> {
    async fn enter(&mut self, witness: &mut impl Witness) -> Result<Entered, RecipeError> {
        match self {
            AnyBarrier::Single(_) => Err(has_no("enter")),
            AnyBarrier::Double(recipe) => recipe.enter(witness).await,
            AnyBarrier::NaiveDouble(recipe) => recipe.enter(witness).await,
        }
    }

    async fn leave(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        match self {
            AnyBarrier::Single(_) => Err(has_no("leave")),
            AnyBarrier::Double(recipe) => recipe.leave(witness).await,
            AnyBarrier::NaiveDouble(recipe) => recipe.leave(witness).await,
        }
    }
}

impl<A: SingleBarrier, B: Send, C: Send> SingleBarrier for AnyBarrier<A, B, C> {
    async fn set(&mut self) -> Result<(), RecipeError> {
        match self {
            AnyBarrier::Single(recipe) => recipe.set().await,
            _ => Err(has_no("set")),
        }
    }

    async fn remove(&mut self) -> Result<(), RecipeError> {
        match self {
            AnyBarrier::Single(recipe) => recipe.remove().await,
            _ => Err(has_no("remove")),
        }
    }

    async fn wait(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        match self {
            AnyBarrier::Single(recipe) => recipe.wait(witness).await,
            _ => Err(has_no("wait")),
        }
    }
}
