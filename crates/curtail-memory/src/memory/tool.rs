//! The tool with which a model updates its working memory: its name, its description, and the JSON Schema of its arguments, in the
//! format of each provider.

use serde_json::{Map, Value, json};

use super::schema::Schema;

/// The names of calls that update working memory: Noetic's call convention, and Noetic's tool.
pub const NAMES: [&str; 2] = ["updateWorkingMemory", "working-memory/update"];

const TASK: &str = "Update the working memory, which you see in <working_memory>. Send only what changes: \
    objects are merged key by key, lists and plain values replace what was there.";

/// The format in which a provider defines tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `OpenAI` chat completions, and the many servers that are compatible with them.
    OpenAi,
    /// `OpenAI` Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini: one entry of `tools`, with a function declaration.
    Gemini,
    /// Amazon Bedrock Converse.
    Bedrock,
}

/// The tool called `name`, as one element of the request's list of tools. Its arguments are those of `schema`, none of them
/// required, because an update may be partial. Without a schema, any object is allowed.
pub fn definition(shape: Shape, name: &str, schema: Option<&Schema>) -> Value {
    let parameters = parameters(schema);
    let task = task(schema);
    match shape {
        Shape::OpenAi => json!({"type": "function", "function":
            {"name": name, "description": task, "parameters": parameters}}),
        Shape::Responses => json!({"type": "function", "name": name, "description": task,
            "parameters": parameters, "strict": false}),
        Shape::Anthropic => json!({"name": name, "description": task, "input_schema": parameters}),
        Shape::Gemini => json!({"functionDeclarations":
            [{"name": name, "description": task, "parametersJsonSchema": parameters}]}),
        Shape::Bedrock => json!({"toolSpec":
            {"name": name, "description": task, "inputSchema": {"json": parameters}}}),
    }
}

/// The description of the tool. If the schema has required keys, the first update must already contain them.
fn task(schema: Option<&Schema>) -> String {
    let required = schema.and_then(|schema| schema.document().get("required")?.as_array());
    let names: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() {
        return TASK.to_owned();
    }
    format!("{TASK} After the update, the memory must have: {}.", names.join(", "))
}

fn parameters(schema: Option<&Schema>) -> Value {
    let mut parameters = match schema.map(Schema::document) {
        Some(Value::Object(document)) => document.clone(),
        _ => Map::new(),
    };
    parameters.shift_insert(0, "type".to_owned(), json!("object"));
    let mut parameters = Value::Object(parameters);
    make_partial(&mut parameters);
    parameters
}

/// Removes the keywords that would forbid a partial update, wherever objects are merged. Items of lists are not changed,
/// because a list is replaced as a whole.
fn make_partial(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    for word in ["required", "minProperties", "dependentRequired", "dependencies", "if", "then", "else"] {
        schema.shift_remove(word);
    }
    // Without required keys, several alternatives may allow the same update.
    if let Some(alternatives) = schema.shift_remove("oneOf") {
        if schema.contains_key("anyOf") {
            let all = schema.entry("allOf").or_insert_with(|| json!([]));
            all.as_array_mut().into_iter().for_each(|all| all.push(json!({"anyOf": alternatives})));
        } else {
            schema.insert("anyOf".to_owned(), alternatives);
        }
    }
    for word in ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"] {
        if let Some(Value::Object(named)) = schema.get_mut(word) {
            named.values_mut().for_each(make_partial);
        }
    }
    if let Some(others) = schema.get_mut("additionalProperties") {
        make_partial(others);
    }
    for word in ["allOf", "anyOf"] {
        if let Some(Value::Array(all)) = schema.get_mut(word) {
            all.iter_mut().for_each(make_partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::make_partial;
    use serde_json::json;

    #[test]
    fn an_update_may_be_partial_wherever_a_schema_describes_an_object() {
        let mut schema = json!({
            "required": ["plan"],
            "properties": { "plan": { "$ref": "#/$defs/plan" }, "steps": { "items": { "required": ["name"] } } },
            "$defs": { "plan": { "required": ["goal"], "anyOf": [{ "required": ["by"] }, { "minProperties": 2 }] } }
        });
        make_partial(&mut schema);
        let partial = json!({
            "properties": { "plan": { "$ref": "#/$defs/plan" }, "steps": { "items": { "required": ["name"] } } },
            "$defs": { "plan": { "anyOf": [{}, {}] } }
        });
        assert_eq!(schema, partial);
        let mut schema = json!({
            "oneOf": [{ "required": ["goal"] }, { "properties": { "by": { "minProperties": 1 } } }],
            "dependencies": { "by": ["goal"] },
            "dependentSchemas": { "by": { "required": ["goal"], "anyOf": [{}], "oneOf": [{ "required": ["at"] }] } },
            "if": {}, "then": { "required": ["by"] }, "else": false
        });
        make_partial(&mut schema);
        let partial = json!({
            "dependentSchemas": { "by": { "anyOf": [{}], "allOf": [{ "anyOf": [{}] }] } },
            "anyOf": [{}, { "properties": { "by": {} } }]
        });
        assert_eq!(schema, partial);
    }
}
