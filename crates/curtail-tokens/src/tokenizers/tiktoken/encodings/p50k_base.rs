//! `p50k_base`: Codex and the text-davinci models 2 and 3.

use super::super::counter::Walker;
use super::Encoding;
use super::r50k_base::R50k;

pub(super) static ENCODING: Encoding = Encoding {
    walker: Walker::splitting_by::<R50k>(),
    tenths: 38,
    models: &[
        "text-davinci-003",
        "text-davinci-002",
        "text-davinci-edit-001",
        "code-davinci-edit-001",
        "code-davinci-002",
        "code-davinci-001",
        "code-cushman-002",
        "code-cushman-001",
        "davinci-codex",
        "cushman-codex",
    ],
};
