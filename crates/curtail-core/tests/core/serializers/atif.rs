//! Scripts as steps of the Agent Trajectory Interchange Format: results stand in the step of their calls, and in a step of the
//! system where they follow no call with their id.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut steps: Vec<Step> = Vec::new();
    for turn in script {
        match turn {
            Turn::System(text) => steps.push(Step::new("system", text)),
            Turn::User(text) => steps.push(Step::new("user", text)),
            Turn::Assistant { reasoning, text, calls } => {
                let mut step = Step::new("agent", text.as_deref().unwrap_or_default());
                step.thought.clone_from(reasoning);
                step.calls = calls
                    .iter()
                    .map(|call| {
                        let (id, name) = (json(&call.id), json(&call.name));
                        format!("{{\"tool_call_id\":{id},\"function_name\":{name},\"arguments\":{}}}", call.arguments)
                    })
                    .collect();
                step.ids = calls.iter().map(|call| call.id.clone()).collect();
                steps.push(step);
            }
            Turn::Result { id, text, .. } => {
                if !steps.last().is_some_and(|step| step.ids.contains(id)) {
                    steps.push(Step::new("system", ""));
                }
                let result = format!("{{\"source_call_id\":{},\"content\":{}}}", json(id), json(text));
                steps.last_mut().expect("a step was pushed").results.push(result);
            }
        }
    }
    steps.iter().enumerate().map(|(nth, step)| step.serialize(nth + 1)).collect()
}

struct Step {
    source: &'static str,
    message: String,
    thought: Option<String>,
    calls: Vec<String>,
    ids: Vec<String>,
    results: Vec<String>,
}

impl Step {
    fn new(source: &'static str, message: &str) -> Self {
        let (calls, ids, results) = (Vec::new(), Vec::new(), Vec::new());
        Self { source, message: message.to_owned(), thought: None, calls, ids, results }
    }

    fn serialize(&self, number: usize) -> String {
        let mut members = vec![
            format!("\"step_id\":{number}"),
            format!("\"source\":\"{}\"", self.source),
            format!("\"message\":{}", json(&self.message)),
        ];
        members.extend(self.thought.iter().map(|text| format!("\"reasoning_content\":{}", json(text))));
        if !self.calls.is_empty() {
            members.push(format!("\"tool_calls\":[{}]", self.calls.join(",")));
        }
        if !self.results.is_empty() {
            members.push(format!("\"observation\":{{\"results\":[{}]}}", self.results.join(",")));
        }
        format!("{{{}}}", members.join(","))
    }
}
