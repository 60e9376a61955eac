//! The report of `verify` for programs: one JSON document, whose schema is `verify.json`.

use serde_json::{Value, json};

use crate::options::verify::VerifyOptions;
use crate::works::verdict::Failing;
use crate::works::verify::{SideInfo, Verified};
use curtail_core::checks::Finding;
use curtail_facts::verify::{JudgedFact, Kind, Share};

/// Raised when a member is removed or changes its meaning; new members do not raise it.
const VERSION: u32 = 1;

/// The JSON document of all comparisons.
pub(crate) fn document(all: &[Verified], options: &VerifyOptions) -> String {
    let sum = all.iter().fold(Share::default(), |sum, one| sum.and(one.comparison.all()));
    let mut summary = share_json(sum);
    summary["pairs"] = json!(all.len());
    summary["passed"] = json!(all.iter().all(|one| Failing::all(one, options).is_empty()));
    let pairs: Vec<Value> = all.iter().map(|one| pair(one, options)).collect();
    format!("{:#}\n", json!({"version": VERSION, "pairs": pairs, "summary": summary}))
}

fn pair(verified: &Verified, options: &VerifyOptions) -> Value {
    let comparison = &verified.comparison;
    let mut pair = json!({
        "before": side(&verified.before),
        "after": side(&verified.after),
        "sound": verified.findings.as_ref().map(Vec::is_empty),
        "cache": {"unchanged": verified.unchanged, "of": verified.before.tokens},
        "kept": share_json(comparison.all()),
        "kinds": kinds(verified),
        "unimportant": share_json(comparison.unimportant()),
        "facts": facts(verified),
        "claims": comparison.claims.iter().map(|claim| json!({"about": claim.about, "text": claim.text})).collect::<Vec<_>>(),
        "failed": Failing::all(verified, options).iter().map(Failing::name).collect::<Vec<_>>(),
    });
    pair["unimportant"]["printed"] = json!(comparison.printed);
    if let Some(findings) = &verified.findings {
        pair["findings"] = findings.iter().map(finding).collect();
    }
    if let Some(number) = verified.compaction {
        pair["compaction"] = json!(number);
    }
    pair
}

fn side(info: &SideInfo) -> Value {
    json!({"file": info.file, "dialect": info.dialect, "tokens": info.tokens})
}

fn finding(finding: &Finding) -> Value {
    json!({"code": finding.rule.code, "rule": finding.rule.name, "message": finding.message, "line": finding.at.line})
}

fn kinds(verified: &Verified) -> Value {
    let shares = Kind::ALL.iter().map(|kind| (kind.name(), verified.comparison.of_kind(*kind)));
    let found = shares.filter(|(_, share)| share.total() > 0);
    Value::Object(found.map(|(name, share)| (name.to_owned(), share_json(share))).collect())
}

fn share_json(share: Share) -> Value {
    let mut value =
        json!({"kept": share.kept, "lost": share.lost, "reworded": share.reworded, "unknown": share.unknown});
    value["share"] = json!(share.kept().filter(|_| share.unknown == 0));
    value
}

fn facts(verified: &Verified) -> Vec<Value> {
    let mut facts: Vec<Value> = verified.comparison.facts.iter().map(|judged| fact(verified, judged)).collect();
    for (fact, used) in facts.iter_mut().zip(&verified.used) {
        fact["used"] = json!(used);
    }
    facts
}

fn fact(verified: &Verified, judged: &JudgedFact) -> Value {
    let fact = &judged.fact;
    let mut value = json!({
        "kind": fact.kind.name(),
        "text": fact.text,
        "fate": judged.fate.name(),
        "important": fact.important,
        "message": fact.message,
    });
    if let Some(state) = fact.state {
        value["state"] = json!(state.name());
    }
    if let Some(line) = fact.message.and_then(|at| verified.lines.get(at)) {
        value["line"] = json!(line);
    }
    if let Some(near) = &judged.near {
        value["near"] = json!(near);
    }
    value
}
