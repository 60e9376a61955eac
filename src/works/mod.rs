//! What is done with each unit of a batch: it is cut, checked, counted, outlined, drawn or compared.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod check;
pub(crate) mod copies;
pub(crate) mod count;
pub(crate) mod count_rows;
pub(crate) mod count_usage;
pub(crate) mod counterpart;
pub(crate) mod cut;
pub(crate) mod explained;
mod failed_record;
mod given_back;
mod mark;
pub(crate) mod outline;
pub(crate) mod output;
pub(crate) mod rows;
pub(crate) mod text;
pub(crate) mod verdict;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod whole_file;
pub(crate) mod windows;
