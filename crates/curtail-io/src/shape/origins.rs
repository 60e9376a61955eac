//! Which elements of a list after a cut are those before it, and which old ones the others were made of.

use std::collections::HashMap;

use curtail_core::json::Value;

/// Where an element comes from.
pub(super) enum Origin<'a> {
    /// It is the old element with this number.
    Kept(usize),
    /// It is new, and was made of this old element, as far as that is known.
    Changed(Option<Value<'a>>),
}

/// The origins of the elements `after` a cut.
pub(super) fn origins<'a>(elements: &[Value<'a>], after: &[Value<'a>]) -> Vec<Origin<'a>> {
    let mut behind = elements.len();
    let mut origins: Vec<Origin<'a>> = kept_numbers(elements, after)
        .into_iter()
        .rev()
        .map(|kept| match kept {
            Some(number) => {
                behind = number;
                Origin::Kept(number)
            }
            // A cut drops the elements in front, and puts what it adds there.
            None => {
                let before = behind.checked_sub(1);
                behind = before.unwrap_or(0);
                Origin::Changed(before.map(|before| elements[before]))
            }
        })
        .collect();
    origins.reverse();
    origins
}

/// The number of each element `after` a cut among the old ones, of which each is found behind the one before it.
fn kept_numbers(elements: &[Value<'_>], after: &[Value<'_>]) -> Vec<Option<usize>> {
    let mut numbers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, element) in elements.iter().enumerate() {
        numbers.entry(element.raw()).or_default().push(number);
    }
    let mut next = 0;
    let kept = after.iter().map(|value| {
        let same = numbers.get(value.raw())?;
        let number = *same.get(same.partition_point(|number| *number < next))?;
        next = number + 1;
        Some(number)
    });
    kept.collect()
}
