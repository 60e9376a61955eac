//! One encoding per file. To add one, write its file and add its line to `list.inc`. The build script makes its tables,
//! and the program lists its name, its estimate `approx:NAME` and its models.

use super::counter::Walker;
use super::vocabulary::{Vocabulary, listed};

pub(crate) use cl100k_base::Words;
pub(crate) use o200k_base::{Cased, O200k};
pub(crate) use r50k_base::R50k;

/// What distinguishes an encoding from the others.
pub(crate) struct Encoding {
    /// How it splits a text.
    pub(crate) walker: Walker,
    /// UTF-16 units per token on average, in tenths: the ratio of its estimate.
    pub(crate) tenths: usize,
    /// The models that use it. `NAME` includes all names that continue with `-`, `:` or `@`, and `NAME*` all that begin
    /// with `NAME`.
    pub(crate) models: &'static [&'static str],
}

/// An encoding with its names and tables.
pub(crate) struct ListedEncoding {
    pub(crate) name: &'static str,
    /// The name of its estimate.
    pub(crate) estimate: &'static str,
    pub(crate) encoding: &'static Encoding,
    pub(crate) vocabulary: fn() -> &'static Vocabulary,
}

macro_rules! encodings {
    ($($name:ident: $ranks:ident,)*) => {
        $(mod $name;)*

        /// All encodings, the default first.
        pub(crate) static ALL: &[ListedEncoding] = &[$(ListedEncoding {
            name: stringify!($name),
            estimate: concat!("approx:", stringify!($name)),
            encoding: &$name::ENCODING,
            vocabulary: listed::$ranks,
        },)*];
    };
}

include!("list.inc");
