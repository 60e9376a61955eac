//! Whether the scripts of `sed` and `awk` write files or run programs. Where that is in doubt, they do.

use std::str::Chars;
use std::sync::LazyLock;

use regex::Regex;

/// A script of `sed` whose commands print, delete or replace. `w` and `e`, commands or flags of `s`, are not among them.
static HARMLESS_SED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?:\\.|\[\^?(?:\[:\w+:\]|[^\]\[\nMARK])+\]|[^\\\[\nMARK])*MARK";
    let replacement = r"(?:\\(?s:.)|[^\\\nMARK])*MARK";
    let substitution = format!(r"[sy]MARK{pattern}{replacement}[gpiImM\d]*");
    let mut parts: Vec<String> =
        "/|#,@:%!~_;".chars().map(|mark| substitution.replace("MARK", &regex::escape(&mark.to_string()))).collect();
    parts.push(format!("/{pattern}[IM]*").replace("MARK", "/"));
    parts.push(String::from(r"[\s;{}!,$+~\d]|\$\{\w+\}|[dDgGhHlnNpPqQxz=]|[btT:]\s*\w*|(?:[aic#]|[rR]\s)[^\n]*"));
    Regex::new(&format!("^(?:{})*$", parts.join("|"))).ok()
});

/// What writes or runs something in a script of `awk` without its strings and regular expressions. `>` compares outside of `print`.
static WRITING_AWK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"system\s*\(|getline|@|(?:^|[^|])\|(?:$|[^|])|\bprintf?\b[^;}]*>").ok());

/// Whether one of the scripts in arguments of `sed` may write.
pub(super) fn sed_writes(arguments: &[String]) -> bool {
    !sed_scripts(arguments).iter().all(|script| HARMLESS_SED.as_ref().is_some_and(|harmless| harmless.is_match(script)))
}

/// The scripts behind `-e`, or else the first operand. A number is the value of a flag.
fn sed_scripts(arguments: &[String]) -> Vec<&str> {
    let mut scripts = Vec::new();
    let mut operand = None;
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match script_in_flag(word) {
            Some("") => scripts.extend(words.next()),
            Some(script) => scripts.push(script),
            None if word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()) => {}
            None => operand = operand.or(Some(word)),
        }
    }
    if scripts.is_empty() { operand.into_iter().collect() } else { scripts }
}

/// What stands behind the `e` of a flag such as `-ne` or `--expression=`.
fn script_in_flag(word: &str) -> Option<&str> {
    if let Some(script) = word.strip_prefix("--expression") {
        return Some(script.strip_prefix('=').unwrap_or(script));
    }
    let (letters, script) = word.strip_prefix('-')?.split_once('e')?;
    letters.chars().all(|letter| "nErsuz".contains(letter)).then_some(script)
}

/// Whether a script of `awk` may write.
pub(super) fn awk_writes(script: &str) -> bool {
    awk_code(script).is_none_or(|code| WRITING_AWK.as_ref().is_none_or(|writing| writing.is_match(&code)))
}

/// The script without comments and what its strings and regular expressions contain; `None` if one of them does not end.
fn awk_code(script: &str) -> Option<String> {
    let mut code = String::new();
    let mut rest = script.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '"' => pass_quoted(&mut rest, '"')?,
            '/' if !ends_value(&code) => pass_quoted(&mut rest, '/')?,
            '#' => {
                rest.find(|letter| *letter == '\n');
            }
            _ => {}
        }
        code.push(letter);
    }
    Some(code)
}

/// Passes over what follows an opening mark, with the mark that closes it.
fn pass_quoted(rest: &mut Chars<'_>, mark: char) -> Option<()> {
    loop {
        match rest.next()? {
            '\\' => {
                rest.next();
            }
            letter if letter == mark => return Some(()),
            _ => {}
        }
    }
}

/// Whether a slash behind `code` divides.
fn ends_value(code: &str) -> bool {
    code.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | ']' | '$' | '_' | '"'))
}
