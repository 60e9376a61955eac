//! Which sentences give a rule: by their words, their form, or the heading of their list.

use super::super::clauses::{labelled_list, without_condition};
use super::super::languages::LANGUAGES;
use super::super::lexicon::content_words;
use super::super::voices::Voice;

/// The most words of a ban that has no verb: a longer sentence tells something.
const LONGEST_BAN: usize = 12;

/// The rules of a line such as `Rules: no new dependencies, keep the API`.
pub(super) fn labelled_rules(text: &str) -> Option<Vec<&str>> {
    let (label, items) = labelled_list(text)?;
    if LANGUAGES.rule_heading.first_in(label) != Some(0) || label.split(' ').count() > 2 {
        return None;
    }
    Some(items.map(without_and).filter(|item| !item.is_empty()).collect())
}

/// The last item of a list without the `and` before it.
fn without_and(item: &str) -> &str {
    match LANGUAGES.and.places(item).first() {
        Some((0, end)) => item[*end..].trim(),
        _ => item,
    }
}

/// Whether a heading introduces rules: it is short, and names them.
pub(super) fn is_rule_heading(heading: &str) -> bool {
    heading.split_whitespace().count() <= 4 && LANGUAGES.rule_heading.are_in(heading)
}

/// Whether a segment gives a rule: what a model or a tool says is none, whatever its form.
pub(super) fn is_rule(segment: &str, voice: Voice, is_listed: bool) -> bool {
    if !matches!(voice, Voice::Instructions | Voice::Project | Voice::Person) {
        return false;
    }
    // A bold order begins with its verb, and `path (string) [required]` declares an argument.
    let segment = segment.trim_start_matches('*');
    let segment = &segment.replace("[required]", "").replace("(required)", "");
    let is_short = content_words(segment).is_empty() || segment.chars().count() < 4;
    // `Build tool: make` describes.
    let label = segment.split([':', '：']).next().filter(|label| label.len() < segment.len());
    if label.is_some_and(|label| label.split(' ').count() <= 2) && !LANGUAGES.rule.are_in(segment) {
        return is_listed;
    }
    let is_code = segment.contains(" = ") || segment.ends_with(['{', ')']) && !segment.contains(['(', '（']);
    if is_short
        || is_code
        || segment.ends_with(['?', '？'])
        || segment.ends_with([':', '：']) && voice != Voice::Person
        || segment.starts_with(['"', '“', '«', '「', '|'])
    {
        return false;
    }
    is_listed
        || LANGUAGES.rule.are_in(segment) && !LANGUAGES.story.are_in(segment)
        || bans(segment)
        || matches!(voice, Voice::Instructions | Voice::Project) && orders(segment)
        || voice == Voice::Instructions && is_order_by_form(segment)
}

/// Whether a sentence begins with a verb that gives an order, or ends as one.
fn orders(segment: &str) -> bool {
    let segment = without_condition(segment);
    let bare = segment.trim_end_matches(['。', '.', '！', ' ']);
    LANGUAGES.order.first_in(segment) == Some(0)
        || LANGUAGES.order_end.places(segment).last().is_some_and(|(_, end)| *end >= bare.len())
}

/// Whether a sentence has the form of an English order, whatever its verb: a word that is no plural and no participle, and after it
/// what a verb takes.
fn is_order_by_form(segment: &str) -> bool {
    let segment = without_condition(segment);
    let mut words = segment.split(' ');
    let verb = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    let is_plural = verb.ends_with('s') && !verb.ends_with("ss");
    let is_other = is_plural || ["ed", "ing", "ly", "ion"].iter().any(|ending| verb.ends_with(ending));
    verb.bytes().all(|byte| byte.is_ascii_alphabetic())
        && verb.len() >= 3
        && !is_other
        && !LANGUAGES.stop.contains(&verb.to_lowercase())
        && LANGUAGES.object.are_all_of(next)
        && !LANGUAGES.telling.are_in(segment)
}

/// Whether a sentence bans something without a verb of its own: `no unsafe code`.
fn bans(segment: &str) -> bool {
    let segment = without_condition(segment);
    let begins = LANGUAGES.ban.places(segment).first().filter(|(start, _)| *start == 0).copied();
    begins.is_some_and(|(_, end)| {
        segment[end..].starts_with(' ')
            && !LANGUAGES.telling.are_in(segment)
            && content_words(segment).len() <= LONGEST_BAN
    })
}

#[cfg(test)]
mod tests {
    use super::{Voice, is_rule};

    #[test]
    fn rules_are_told_from_stories() {
        for text in [
            "Never commit to main",
            "do not touch vendor/",
            "You must ask first",
            "Lösche niemals Dateien",
            "不要修改配置",
            "必ず日本語で答えること",
            "Ne modifie jamais ce fichier",
            "Nunca borres la base",
            "From now on use tabs",
            "{{char}} must never speak for {{user}}.",
            "{user_name} must never be told",
        ] {
            assert!(is_rule(text, Voice::Person, false), "{text}");
        }
        for text in [
            "It never worked",
            "It must have been the cache",
            "It must be something in the cache",
            "path (string) [required]: the path to the file",
            "Fix the parser",
            "I always get an error",
            "Should we?",
        ] {
            assert!(!is_rule(text, Voice::Person, false), "{text}");
        }
        assert!(is_rule("Hand over to a person", Voice::Instructions, false));
        assert!(is_rule("**Use tabs.**", Voice::Instructions, false));
        assert!(!is_rule("Customers in the north pay less", Voice::Instructions, false));
        assert!(is_rule("Use tabs", Voice::Instructions, false) && !is_rule("Use tabs", Voice::Model, true));
        assert!(is_rule("Build tool: make", Voice::Person, true) && !is_rule("Build tool: make", Voice::Model, true));
    }
}
