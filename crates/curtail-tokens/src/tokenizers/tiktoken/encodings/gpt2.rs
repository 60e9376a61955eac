//! `gpt2`: GPT-2. It differs from `r50k_base` only in special tokens.

use super::super::counter::Walker;
use super::Encoding;
use super::r50k_base::R50k;

pub(super) static ENCODING: Encoding =
    Encoding { walker: Walker::splitting_by::<R50k>(), tenths: 32, models: &["gpt2", "gpt-2"] };
