//! "Did you mean": the known name that is closest to a misspelled one. It has no list of names of its own.

use std::borrow::Borrow;

/// The name in `known` that is closest to `name`, if one is close enough: one of the two begins with the other, or at most a third
/// of the letters of `name` (one of up to three) differ, or their similarity by Jaro and Winkler is above 0.8. Case and `_` for `-`
/// make no difference.
pub fn closest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = comparable(name);
    let close = known.into_iter().filter_map(|known| {
        let other = comparable(known);
        let similarity = strsim::jaro_winkler(&name, &other);
        (similarity > 0.8 || is_close(&name, &other)).then_some((similarity, known))
    });
    // The first of several that are equally close.
    close.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, known)| known)
}

/// `lack` (such as "there is no network"), `name`, the closest known name and all of them.
#[must_use]
pub fn unknown<S: Borrow<str>>(lack: &str, name: &str, known: &[S]) -> String {
    if known.is_empty() {
        return format!("{lack} `{name}`; none is defined");
    }
    let hint = closest(name, known.iter().map(Borrow::borrow));
    let hint = hint.map_or_else(|| String::from(";"), |suggestion| format!("; did you mean `{suggestion}`?"));
    format!("{lack} `{name}`{hint} known: {}", known.join(", "))
}

fn comparable(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

fn is_close(name: &str, other: &str) -> bool {
    let letters = name.chars().count();
    let begins = letters > 1 && (other.starts_with(name) || name.starts_with(other));
    begins || strsim::damerau_levenshtein(name, other) <= letters.max(3).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::{closest, unknown};

    #[test]
    fn the_closest_name_is_suggested_or_none() {
        let known = ["window", "filter", "limit", "exclude-tool", "exclude", "o200k_base", "SUPPORT_DESK"];
        let cases = [
            ("windw", Some("window")),
            ("fliter", Some("filter")),
            ("Limit", Some("limit")),
            ("exlude", Some("exclude")),
            ("exclude_tools", Some("exclude-tool")),
            ("o200k", Some("o200k_base")),
            ("support-desc", Some("SUPPORT_DESK")),
            ("zzz", None),
            ("", None),
        ];
        for (name, suggestion) in cases {
            assert_eq!(closest(name, known), suggestion, "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_named_with_those_that_exist() {
        assert_eq!(
            unknown("there is no table", "chek", &["check", "history"]),
            "there is no table `chek`; did you mean `check`? known: check, history"
        );
        assert_eq!(unknown::<&str>("there is no agent", "x", &[]), "there is no agent `x`; none is defined");
    }
}
