//! The marks by which a dataset excludes messages from training, in whatever dialect its messages are. Trainers read them
//! beside the role: OpenAI, Mistral, Together and Fireworks `weight`, axolotl `train` and `train_detail`, ms-swift `loss`,
//! LLaMA-Factory `loss_weight`, Tinker `trainable`, slime `loss_mask` and `step_loss_mask`, torchtune `masked`.

use crate::json::{Value, ValueKind};

/// What marks a message that is not trained on: three with rules of their own, and those that are false or 0 on it.
const MARKS: [&str; 10] = [
    "mask", "masked", "train_detail", "weight", "train", "loss", "loss_weight", "trainable", "loss_mask",
    "step_loss_mask",
];

/// Whether the item excludes its message from training.
pub(super) fn excludes(item: Value<'_>) -> bool {
    let [mask, masked, details, trained @ ..] = item.get_each(MARKS);
    let off = trained.into_iter().flatten().any(is_off);
    // `mask` hides the message where it is a truth value, and is what a loss is multiplied by where it is a number.
    off || mask.is_some_and(|mask| is_true(mask) || is_zero(mask))
        || masked.is_some_and(is_true)
        || details.is_some_and(trains_nothing)
}

/// Whether a record excludes all its messages: Fireworks weighs whole samples.
pub(super) fn excludes_all(record: Value<'_>) -> bool {
    record.get("weight").is_some_and(is_zero)
}

/// Whether no range of the text is trained on, of those that axolotl is given.
fn trains_nothing(details: Value<'_>) -> bool {
    let mut ranges = details.items().peekable();
    ranges.peek().is_some() && ranges.all(|range| range.get("train").is_some_and(is_off))
}

fn is_off(mark: Value<'_>) -> bool {
    is_zero(mark) || mark.kind() == ValueKind::Bool && mark.raw() == "false"
}

fn is_true(mark: Value<'_>) -> bool {
    mark.kind() == ValueKind::Bool && mark.raw() == "true"
}

fn is_zero(mark: Value<'_>) -> bool {
    mark.kind() == ValueKind::Number && mark.raw().parse() == Ok(0.0_f64)
}
