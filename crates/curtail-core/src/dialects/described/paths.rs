//! Paths: `origin.id`, `content[].text`, `tool_calls[]`, `versions[chosen]`, alternatives `id|call_id`, constants `=shell`,
//! two texts as one `plugin + "-" + name`.

use crate::json::{Text, Value, ValueKind};

/// Where a value is, from another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Path {
    /// Whether it begins at what is around the value: `^signature`.
    outer: bool,
    routes: Vec<Route>,
}

/// One of the alternatives of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Route {
    /// The same text whatever the value is.
    Constant(String),
    Steps(Vec<Step>),
    /// The text at `last`, after the one at `before`, if there is one, and what is between them.
    Joined {
        before: Vec<Step>,
        between: String,
        last: Vec<Step>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    /// The member with this key, unless it is null.
    Key(String),
    /// Each element of a list.
    Each,
    /// The element of the list under one key whose number is under another.
    Chosen { list: String, number: String },
    /// The value of each member.
    Any,
    /// The key of the only member, as a text.
    Name,
}

impl Path {
    /// The path that `text` writes.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let inside = text.strip_prefix('^');
        let routes = inside.unwrap_or(text).split('|').map(|route| Route::parse(route.trim()));
        Ok(Self { outer: inside.is_some(), routes: routes.collect::<Result<_, _>>()? })
    }

    /// The value that it begins at.
    pub(super) const fn base<'a>(&self, value: Value<'a>, outer: Value<'a>) -> Value<'a> {
        if self.outer { outer } else { value }
    }

    /// Whether it begins at what is around the value.
    pub(super) const fn is_outer(&self) -> bool {
        self.outer
    }

    /// What the alternatives after the first one that leads somewhere find.
    pub(super) fn passed_over<'a>(&self, from: Value<'a>) -> Vec<Value<'a>> {
        if self.routes.len() < 2 {
            return Vec::new();
        }
        self.routes.iter().filter_map(|route| first(from, route.steps()?)).skip(1).collect()
    }

    /// The value itself.
    pub(super) fn here() -> Self {
        Self { outer: false, routes: vec![Route::Steps(Vec::new())] }
    }

    /// Whether it is the value itself.
    pub(super) fn is_here(&self) -> bool {
        *self == Self::here()
    }

    /// The list that the path steps into last, and the path from an element of that list.
    pub(super) fn parted(&self) -> (Option<Self>, Self) {
        let mut lists = Vec::new();
        let mut rests = Vec::new();
        for route in &self.routes {
            let Route::Steps(steps) = route else { continue };
            match steps.iter().rposition(|step| *step == Step::Each) {
                Some(last) => {
                    lists.push(Route::Steps(steps[..last].to_vec()));
                    rests.push(Route::Steps(steps[last + 1..].to_vec()));
                }
                // What follows the last alternative with a list belongs to its elements.
                None => rests.push(route.clone()),
            }
        }
        rests.dedup();
        if rests.len() > 1 && rests.first() == Some(&Route::Steps(Vec::new())) {
            rests.remove(0);
        }
        let list = (!lists.is_empty()).then_some(Self { outer: self.outer, routes: lists });
        (list, Self { outer: false, routes: rests })
    }

    /// The same path, with the keys that `renamed` renames.
    pub(super) fn renamed(&self, renamed: impl Fn(&str) -> Option<String>) -> Self {
        let mut path = self.clone();
        for route in &mut path.routes {
            for key in route.all_steps().flat_map(Step::all_keys) {
                if let Some(new) = renamed(key) {
                    *key = new;
                }
            }
        }
        path
    }

    /// The steps of a path without alternatives.
    fn only_route(&self) -> Option<&[Step]> {
        if let [route] = self.routes.as_slice() { route.steps() } else { None }
    }

    /// The first key, if all routes begin with it.
    pub(super) fn only_start(&self) -> Option<&str> {
        let mut starts = self.routes.iter().map(|route| route.steps()?.first()?.key());
        let first = starts.next()??;
        starts.all(|start| start == Some(first)).then_some(first)
    }

    /// The first two keys of a path without alternatives, and with no more than a list between them.
    pub(super) fn two_keys(&self) -> Option<(&str, &str)> {
        match self.only_route()? {
            [first, Step::Each, second, ..] | [first, second, ..] => Some((first.key()?, second.key()?)),
            _ => None,
        }
    }

    /// Whether it ends with its second key.
    pub(super) fn is_two_keys(&self) -> bool {
        self.only_route().is_some_and(|steps| steps.iter().filter(|step| **step != Step::Each).count() == 2)
    }

    /// The only key of a path that is no more than one.
    pub(super) fn only_key(&self) -> Option<&str> {
        if let [step] = self.only_route()? { step.key() } else { None }
    }

    /// The keys of its first route, if that is nothing else.
    pub(super) fn keys(&self) -> Option<Vec<&str>> {
        self.routes.first()?.steps()?.iter().map(Step::key).collect()
    }

    /// The keys after the last list of its first route.
    pub(super) fn keys_in_list(&self) -> Option<Vec<&str>> {
        let steps = self.routes.first()?.steps()?;
        let last = steps.iter().rposition(|step| *step == Step::Each)?;
        steps[last + 1..].iter().map(Step::key).collect()
    }

    /// The first value there is; an empty one gives way to a text.
    pub(super) fn first<'a>(&self, from: Value<'a>) -> Option<Value<'a>> {
        let found = self.routes.iter().filter_map(|route| first(from, route.steps()?));
        first_filled(found, |value| is_empty(*value), |value| has_text(*value))
    }

    /// The keys that its routes end with.
    pub(super) fn last_keys(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().filter_map(|route| route.steps()?.last()?.key())
    }

    /// The object that has, or could have, the value at the path, with the key of it.
    pub(super) fn holder<'a>(&self, from: Value<'a>) -> Option<(Value<'a>, &str)> {
        self.routes.iter().find_map(|route| {
            let (last, before) = route.steps()?.split_last()?;
            Some((first(from, before).filter(|holder| holder.is_object())?, last.key()?))
        })
    }

    /// All values of the first alternative that has one; if all are empty, those of one with a text.
    pub(super) fn all<'a>(&self, from: Value<'a>) -> Vec<Value<'a>> {
        let found = self.routes.iter().filter_map(|route| {
            let mut values = Vec::new();
            find(from, route.steps()?, &mut |value| {
                values.push(value);
                false
            });
            Some(values)
        });
        let found = found.filter(|values| !values.is_empty());
        let filled = first_filled(
            found,
            |values| values.iter().all(|value| is_empty(*value)),
            |values| values.iter().any(|value| has_text(*value)),
        );
        filled.unwrap_or_default()
    }

    /// The text there: of a string, the JSON of another value, a key, a constant, or two texts as one. An empty one gives way to
    /// another.
    pub(super) fn text<'a>(&self, from: Value<'a>) -> Option<Text<'a>> {
        let found = self.routes.iter().filter_map(|route| route.text(from));
        first_filled(
            found,
            |text| text.len_bound() == 0 || matches!(text, Text::Json("[]")),
            |text| text.len_bound() > 0 && !matches!(text, Text::Json(_)),
        )
    }

    /// Whether there is a value other than `false`.
    pub(super) fn has(&self, from: Value<'_>) -> bool {
        self.routes.iter().any(|route| match route {
            Route::Steps(steps) | Route::Joined { last: steps, .. } => any(from, steps, |value| value.raw() != "false"),
            Route::Constant(_) => true,
        })
    }

    /// Whether there is a value that is one of `wanted`.
    pub(super) fn holds(&self, from: Value<'_>, wanted: &[String]) -> bool {
        self.routes.iter().any(|route| match route {
            Route::Steps(steps) => any(from, steps, |value| is_one_of(value, wanted)),
            Route::Joined { .. } => route.text(from).is_some_and(|text| wanted.iter().any(|one| text.is(one))),
            Route::Constant(_) => true,
        })
    }
}

/// The first of what the alternatives of a path find. If that is empty, the first that has a text: programs write `""` for nothing.
fn first_filled<T>(
    mut found: impl Iterator<Item = T>,
    is_empty: impl Fn(&T) -> bool,
    has_text: impl Fn(&T) -> bool,
) -> Option<T> {
    let first = found.next()?;
    if is_empty(&first) { found.find(has_text).or(Some(first)) } else { Some(first) }
}

/// Whether a value is an empty text, or a list of nothing.
fn is_empty(value: Value<'_>) -> bool {
    matches!(value.raw(), r#""""# | "[]")
}

fn has_text(value: Value<'_>) -> bool {
    value.text().is_some_and(|text| text.len_bound() > 0)
}

/// Whether a value is one of some texts, or is written as one.
pub(super) fn is_one_of(value: Value<'_>, texts: &[String]) -> bool {
    match value.text() {
        Some(string) => texts.iter().any(|text| string.is(text)),
        None => texts.iter().any(|text| value.raw() == text),
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let routes: Vec<String> = self.routes.iter().map(Route::shown).collect();
        write!(f, "{}{}", if self.outer { "^" } else { "" }, routes.join("|"))
    }
}

impl Step {
    fn key(&self) -> Option<&str> {
        if let Self::Key(key) = self { Some(key) } else { None }
    }

    fn all_keys(&mut self) -> Vec<&mut String> {
        match self {
            Self::Key(key) => vec![key],
            Self::Chosen { list, number } => vec![list, number],
            Self::Each | Self::Any | Self::Name => Vec::new(),
        }
    }
}

impl Route {
    /// The route that `text` writes.
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(constant) = text.strip_prefix('=') {
            return Ok(Self::Constant(constant.to_owned()));
        }
        let Some((before, (between, last))) =
            text.split_once(" + \"").and_then(|(before, rest)| Some((before, rest.split_once("\" + ")?)))
        else {
            return steps(text).map(Self::Steps);
        };
        Ok(Self::Joined { before: steps(before)?, between: between.to_owned(), last: steps(last)? })
    }

    /// Its steps, of two texts those to the last one; `None` for a constant.
    fn steps(&self) -> Option<&[Step]> {
        match self {
            Self::Constant(_) => None,
            Self::Steps(steps) | Self::Joined { last: steps, .. } => Some(steps),
        }
    }

    fn all_steps(&mut self) -> impl Iterator<Item = &mut Step> {
        let (before, last): (&mut [Step], &mut [Step]) = match self {
            Self::Constant(_) => (&mut [], &mut []),
            Self::Steps(steps) => (&mut [], steps),
            Self::Joined { before, last, .. } => (before, last),
        };
        before.iter_mut().chain(last)
    }

    fn text<'a>(&self, from: Value<'a>) -> Option<Text<'a>> {
        match self {
            Self::Constant(text) => Some(Text::Owned(text.clone())),
            Self::Steps(steps) => text_at(from, steps),
            Self::Joined { before, between, last } => {
                let last = text_at(from, last)?;
                match text_at(from, before).map(Text::into_decoded).filter(|before| !before.is_empty()) {
                    Some(before) => Some(Text::Owned(format!("{before}{between}{}", last.decode()))),
                    None => Some(last),
                }
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Constant(text) => format!("={text}"),
            Self::Steps(steps) => Self::shown_steps(steps),
            Self::Joined { before, between, last } => {
                format!("{} + \"{between}\" + {}", Self::shown_steps(before), Self::shown_steps(last))
            }
        }
    }

    fn shown_steps(steps: &[Step]) -> String {
        let mut shown = String::new();
        for step in steps {
            let dot = if shown.is_empty() { "" } else { "." };
            match step {
                Step::Each => shown.push_str("[]"),
                Step::Any => shown += &format!("{dot}*"),
                Step::Name => shown += &format!("{dot}{{}}"),
                Step::Chosen { list, number } => shown += &format!("{dot}{list}[{number}]"),
                Step::Key(key) if key.contains(['.', '[']) || matches!(key.as_str(), "*" | "{}") => {
                    shown += &format!("{dot}\"{key}\"");
                }
                Step::Key(key) => shown += &format!("{dot}{key}"),
            }
        }
        if shown.is_empty() { String::from(".") } else { shown }
    }
}

/// The steps of `origin.id`, `content[].text`, `versions[chosen]`, `"a.b".c`, `call.*`, `call.{}` or `.`.
fn steps(text: &str) -> Result<Vec<Step>, String> {
    if text == "." {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let quoted = rest.strip_prefix('"');
        let (key, after) = match quoted {
            Some(quoted) => quoted.split_once('"').ok_or_else(|| format!("`{text}` has a quote without an end"))?,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        match key {
            "" if !after.starts_with('[') || !steps.is_empty() => {
                return Err(format!(
                    "`{text}` is no path: write keys joined by dots, and `[]` after a list, as `content[].text`"
                ));
            }
            "" => {}
            "*" if quoted.is_none() => steps.push(Step::Any),
            "{}" if quoted.is_none() => steps.push(Step::Name),
            key => steps.push(Step::Key(key.to_owned())),
        }
        let mut after = after;
        if let Some((number, rest)) = after.strip_prefix('[').and_then(|inside| inside.split_once(']'))
            && number.starts_with(char::is_alphabetic)
            && steps.last().and_then(Step::key) == Some(key)
        {
            steps.pop();
            steps.push(Step::Chosen { list: key.to_owned(), number: number.to_owned() });
            after = rest;
        }
        while let Some(inner) = after.strip_prefix("[]") {
            steps.push(Step::Each);
            after = inner;
        }
        if after.is_empty() {
            return Ok(steps);
        }
        rest = after
            .strip_prefix('.')
            .ok_or_else(|| format!("`{text}` is no path: `[]` steps into a list, and numbers select nothing"))?;
    }
}

/// The first value that the steps lead to and that is `wanted`. One element may stand in place of a list of one.
fn find<'a>(from: Value<'a>, steps: &[Step], wanted: &mut impl FnMut(Value<'a>) -> bool) -> Option<Value<'a>> {
    let Some((step, rest)) = steps.split_first() else { return wanted(from).then_some(from) };
    match step {
        Step::Key(key) => find(from.some(key)?, rest, wanted),
        Step::Each if from.is_object() => find(from, rest, wanted),
        Step::Each => from.items().find_map(|item| find(item, rest, wanted)),
        Step::Chosen { list, number } => {
            let number = from.get(number)?.raw().parse().ok()?;
            find(from.some(list)?.items().nth(number)?, rest, wanted)
        }
        Step::Any => from.members().find_map(|member| find(member.value, rest, wanted)),
        Step::Name => None,
    }
}

/// The text of a string, the JSON of another value, or a key.
fn text_at<'a>(from: Value<'a>, steps: &[Step]) -> Option<Text<'a>> {
    match steps.split_last() {
        Some((Step::Name, before)) => first(from, before)?.members().next().map(|member| member.key),
        _ => first(from, steps).map(|value| value.text().unwrap_or(Text::Json(value.raw()))),
    }
}

fn first<'a>(from: Value<'a>, steps: &[Step]) -> Option<Value<'a>> {
    find(from, steps, &mut |_| true)
}

/// Whether the steps lead to a value that is `wanted`, or to the key of an object.
fn any<'a>(from: Value<'a>, steps: &[Step], wanted: impl Fn(Value<'a>) -> bool) -> bool {
    let found = match steps.split_last() {
        Some((Step::Name, before)) => find(from, before, &mut |object| object.members().next().is_some()),
        _ => find(from, steps, &mut |value| value.kind() != ValueKind::Null && wanted(value)),
    };
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::Path;
    use crate::json::Document;

    #[test]
    fn paths_find_what_they_say() {
        let text = r#"{"a": {"b.c": 1, "id": "x"}, "list": [{"t": "one"}, {"t": "two", "u": null}], "call": {"read": {"p": 2}}, "at": 1, "empty": "", "none": []}"#;
        let document = Document::parse(text).unwrap();
        let root = document.roots().next().unwrap();
        for (path, expected) in [
            ("a.id", "x"),
            ("a.\"b.c\"", "1"),
            ("nothing|a.id", "x"),
            ("empty|a.id", "x"),
            ("empty|nothing", ""),
            ("empty|list", ""),
            ("none|a.id", "x"),
            ("list[].t", "one"),
            ("call.{}", "read"),
            ("call.*.p", "2"),
            ("nothing|=shell", "shell"),
            ("nothing | =shell", "shell"),
            ("a[].id", "x"),
            ("list[at].t", "two"),
            ("list[call]|a.id", "x"),
            ("call.\"*\"|=none", "none"),
            ("a.id + \"-\" + list[].t", "x-one"),
            ("a.none + \"-\" + a.id", "x"),
            ("a.id + \"-\" + a.none | at", "1"),
        ] {
            let found = Path::parse(path).unwrap().text(root).map(|text| text.decode().into_owned());
            assert_eq!(found.as_deref(), Some(expected), "{path}");
        }
        assert_eq!(Path::parse("list[].t").unwrap().all(root).len(), 2);
        assert!(Path::parse("list[].u").unwrap().first(root).is_none(), "null is nothing");
        for wrong in ["a..b", "", "a[0]", "\"a"] {
            assert!(Path::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_parts_at_its_last_list() {
        for (path, list, rest) in [
            ("content[].tool_call", Some("content"), "tool_call"),
            ("content[]|parts[]", Some("content|parts"), "."),
            ("content", None, "content"),
            ("a[].b[]", Some("a[].b"), "."),
        ] {
            let (found, after) = Path::parse(path).unwrap().parted();
            assert_eq!(found.map(|list| list.to_string()).as_deref(), list, "{path}");
            assert_eq!(after.to_string(), rest, "{path}");
        }
    }

    #[test]
    fn a_path_is_shown_as_it_is_written() {
        for path in [
            "\"a.b\".c", "^\"x.y\".z", "id|call_id", "call.*.args", "call.{}", "=shell", ".", "[]", "list[].t",
            "a.list[at].t", "\"*\".a", "a.b + \"-\" + c|d",
        ] {
            assert_eq!(Path::parse(path).unwrap().to_string(), path);
        }
    }
}
