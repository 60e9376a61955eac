//! What is done with each unit of a batch: it is cut, checked, searched, or compared.

pub(crate) mod answer;
pub(crate) mod check;
pub(crate) mod copies;
pub(crate) mod cut;
mod explained;
pub(crate) mod output;
mod rows;
pub(crate) mod verify;
