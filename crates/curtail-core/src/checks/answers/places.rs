//! Which places of a request a text names: a path with an index, or an id.

/// A path in a request, such as `messages.37.content.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// The number of the message, as it is written.
    pub(super) index: usize,
    /// Whether the first message has the number 1.
    pub(super) from_one: bool,
    /// The lists inside the message, each with a number.
    pub(super) steps: Vec<(String, usize)>,
}

/// The lists of messages of a request, the longest name first.
const LISTS: [&str; 4] = ["messages", "contents", "message", "input"];

/// Words before the number of a message, in sentences that have no path.
const WORDS: [&str; 2] = ["index", "position"];

/// The first path in `tight` that has a number; in sentences like `words`, also a number without a path.
pub(super) fn mention(tight: &str, words: &str) -> Option<Mention> {
    let lower = dotted(&tight.to_ascii_lowercase());
    let path = (0..lower.len()).filter(|at| lower.is_char_boundary(*at)).find_map(|at| path_at(&lower, at));
    let counted = || {
        WORDS
            .into_iter()
            .filter(|word| words.contains(&format!("{word} N")))
            .find_map(|word| number_after(&lower, word))
    };
    path.or_else(counted)
}

/// The text with dots between the steps of paths that other programs write with arrows, or as a list of strings and numbers.
fn dotted(text: &str) -> String {
    let text = ["->", "\",", "',"].iter().fold(text.to_owned(), |text, separator| text.replace(separator, "."));
    let text = text.replace(".\"", ".").replace(".'", ".");
    // `list[union[…]]` names the types of a list.
    let Some(at) = text.find(".list[") else { return text };
    let mut depth = 0_i32;
    let end = text[at..].char_indices().find(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        *c == ']' && depth == 0
    });
    end.map_or_else(|| text.clone(), |(end, _)| format!("{}{}", &text[..at], &text[at + end + 1..]))
}

fn path_at(text: &str, at: usize) -> Option<Mention> {
    let list = LISTS.into_iter().find(|list| text[at..].starts_with(list))?;
    let mut rest = &text[at + list.len()..];
    let index = bracketed(&mut rest)?;
    let mut steps = Vec::new();
    let mut from_one = false;
    let mut name = "";
    while rest.starts_with(['.', '[']) {
        if let Some(number) = bracketed(&mut rest) {
            steps.push((name.to_owned(), number));
            continue;
        }
        rest = &rest[1..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
        name = if &rest[..end] == "member" { name } else { &rest[..end] };
        from_one |= &rest[..end] == "member";
        rest = &rest[end..];
    }
    Some(Mention { index, from_one, steps })
}

/// Takes `.3`, `[3]` or `.[3]` from the beginning of `rest`.
fn bracketed(rest: &mut &str) -> Option<usize> {
    let begun = rest.strip_prefix('.').unwrap_or(rest);
    let inside = begun.strip_prefix('[').or_else(|| (begun.len() < rest.len()).then_some(begun))?;
    let end = inside.find(|c: char| !c.is_ascii_digit()).unwrap_or(inside.len());
    let number = inside[..end].parse().ok()?;
    *rest = inside[end..].strip_prefix(']').unwrap_or(&inside[end..]);
    Some(number)
}

fn number_after(text: &str, word: &str) -> Option<Mention> {
    let numbers = text.match_indices(word).filter_map(|(at, _)| {
        let rest = text[at + word.len()..].trim_start_matches([':', '=']);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    // The provider that counts positions begins with 1.
    numbers.last().map(|index| Mention { index, from_one: word == "position", steps: Vec::new() })
}

/// The ids that `tight` shortens: what is left of each before and after the gap.
pub(super) fn shortened(tight: &str) -> Vec<[&str; 2]> {
    let is_id = |c: char| c.is_ascii_alphanumeric() || "_-+/=".contains(c);
    let gaps = ["…", "..."].into_iter().flat_map(|gap| tight.match_indices(gap));
    let ends = gaps.filter_map(|(at, gap)| {
        let before = &tight[..at];
        let head = before.rfind(|c: char| !is_id(c)).map_or(before, |end| &before[end..]);
        let head = head.trim_start_matches(|c: char| !is_id(c));
        let after = tight[at + gap.len()..].trim_start_matches('.');
        let tail = &after[..after.find(|c: char| !is_id(c)).unwrap_or(after.len())];
        (head.len() >= 3 && tail.len() >= 3).then_some([head, tail])
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_providers_write_them() {
        let of = |text: &str| mention(text, "").map(|found| (found.index, found.from_one, found.steps));
        let step = |name: &str, number| vec![(name.to_owned(), number)];
        assert_eq!(of("messages.37.content.1:unexpected"), Some((37, false, step("content", 1))));
        assert_eq!(of("'messages[3].tool_calls[0].id'"), Some((3, false, step("tool_calls", 0))));
        assert_eq!(of("GenerateContentRequest.contents[4].parts[0].data"), Some((4, false, step("parts", 0))));
        assert_eq!(of("'messages.3.member.content.2.member.toolUse.toolUseId'"), Some((3, true, step("content", 2))));
        assert_eq!(of("messages.[7].role"), Some((7, false, Vec::new())));
        assert_eq!(of("ObjectatMessages.2.contentis"), Some((2, false, Vec::new())));
        assert_eq!(of("body->messages->5->content->str:Input"), Some((5, false, Vec::new())));
        assert_eq!(of("('body','input','list[union[A,B]]',3,'A','content')"), Some((3, false, Vec::new())));
        assert_eq!(of("tools.43.custom.name:/v1/messages"), None);
        assert_eq!(mention("callmessageatindex5", "message at index N").map(|found| found.index), Some(5));
        assert_eq!(mention("inposition7:surrogates", "").map(|found| found.index), None);
    }

    #[test]
    fn shortened_ids_have_two_ends() {
        assert_eq!(shortened("contentgAAA...DQ==could"), [["contentgAAA", "DQ==could"]]);
        assert_eq!(shortened("'toolu_01Ab…9fXy'"), [["toolu_01Ab", "9fXy"]]);
    }
}
