//! The only table of the models that check the signatures of reasoning. As of November 2026.

/// Claude models that check the signature of reasoning against everything before it: the family, and the first version that
/// does. Later versions of a family are assumed to check as well.
///
/// Anthropic's pages disagree on Mythos 5.1; it is listed, because dropped reasoning costs less than a rejected request.
/// Older models check only that the reasoning of an open round of tool calls is present.
const CHECKS_PREFIX: &[(&str, (u32, u32))] =
    &[("fable", (5, 1)), ("mythos", (5, 1)), ("opus", (5, 5)), ("sonnet", (5, 5)), ("haiku", (5, 5))];

/// Whether the model called `name` rejects signed reasoning after a changed message.
///
/// Accepts the names that providers and routers use.
///
/// ```
/// use curtail_core::transcript::checks_prefix;
///
/// assert!(checks_prefix("claude-opus-5-5-20260901"));
/// assert!(checks_prefix("us.anthropic.claude-fable-5-1-v1:0"));
/// assert!(checks_prefix("claude-code/claude-opus-5-5"));
/// assert!(!checks_prefix("anthropic/claude-sonnet-4.5"));
/// assert!(!checks_prefix("claude-3-5-sonnet-20241022"));
/// ```
#[must_use]
pub fn checks_prefix(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // A router can be called after the models as well, as in `claude-code/claude-opus-5-5`.
    name.split("claude-").skip(1).any(|model| {
        CHECKS_PREFIX.iter().any(|(family, first)| {
            let version = model.strip_prefix(family).and_then(|rest| rest.strip_prefix('-')).map(parsed);
            version.is_some_and(|version| version >= *first)
        })
    })
}

/// The version at the beginning of `text`: `5-5-20260901`, `5.5` and `5-20260901` are (5, 5), (5, 5) and (5, 0).
fn parsed(text: &str) -> (u32, u32) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|digits| {
        // A number of more than two digits is a date.
        if digits.len() > 2 { 0 } else { digits.parse().unwrap_or(0) }
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
