//! `o200k_harmony`: the open-weight gpt-oss models. It differs from `o200k_base` only in special tokens.

use super::super::counter::Walker;
use super::Encoding;
use super::o200k_base::O200k;

pub(super) static ENCODING: Encoding =
    Encoding { walker: Walker::splitting_by::<O200k>(), tenths: 42, models: &["gpt-oss"] };
