//! A column of structs has every member in every row: a table fills in with null what a message does not have. Absent and null
//! are read alike.

use std::collections::BTreeMap;

use curtail_core::dialects::Framing;
use serde_json::Value;

use super::files::{File, fixtures, pieces};
use super::views::{folder, view_without_arguments};

/// Members that contain values of any form. A column keeps these as texts.
const FREE: &[&str] =
    &["input", "args", "arguments", "output", "result", "response", "json", "parameters", "attributes"];

#[test]
fn nulls_that_a_table_fills_in_change_nothing() {
    let files = fixtures();
    let mut failed = Vec::new();
    for group in files.chunk_by(|one, other| folder(one) == folder(other)) {
        failed.extend(read_otherwise(group));
        failed.extend(group.iter().flat_map(|file| read_otherwise(std::slice::from_ref(file))));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A damaged file has a number where a text belongs.
#[test]
fn a_number_in_place_of_a_text_breaks_nothing() {
    for File { name, text } in fixtures() {
        let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>().map_while(Result::ok);
        let numbered = values.map(|mut value| {
            number_texts(&mut value);
            format!("{value}\n")
        });
        view_without_arguments(&File { name, text: numbered.collect() });
    }
}

fn number_texts(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(number_texts),
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(_) if ["text", "content", "value"].contains(&key.as_str()) => {
                        *member = Value::from(0);
                    }
                    member => number_texts(member),
                }
            }
        }
        _ => {}
    }
}

/// The files that are read otherwise in one table, with how they are read before and in it.
fn read_otherwise(files: &[File]) -> Vec<String> {
    let tables: Vec<(&File, Vec<Value>)> = files.iter().filter_map(|file| Some((file, rows(file)?))).collect();
    let mut shape = Shape::default();
    tables.iter().flat_map(|(_, rows)| rows).for_each(|row| shape.add(row));
    let mut changed = Vec::new();
    for (file, mut rows) in tables {
        let before = view(file, &rows);
        rows.iter_mut().for_each(|row| shape.fill(row));
        let after = view(file, &rows);
        if before != after {
            changed.push(format!("{before}---\n{after}"));
        }
    }
    changed
}

/// The transcripts of a file; `None` for a log, which is never a row of a table.
fn rows(file: &File) -> Option<Vec<Value>> {
    let (framing, pieces) = pieces(&file.text);
    if framing == Framing::Lines {
        return None;
    }
    pieces.into_iter().map(|row| serde_json::from_str(row).ok()).collect()
}

fn view(file: &File, rows: &[Value]) -> String {
    let text = rows.iter().map(|row| format!("{row}\n")).collect();
    view_without_arguments(&File { name: file.name.clone(), text })
}

/// The members and elements of all values in one place.
#[derive(Default)]
struct Shape {
    members: BTreeMap<String, Shape>,
    elements: Option<Box<Shape>>,
    /// Whether there are texts or numbers: a column of both is none of structs.
    scalars: bool,
}

impl Shape {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                for (key, value) in members.iter().filter(|(key, _)| !FREE.contains(&key.as_str())) {
                    self.members.entry(key.clone()).or_default().add(value);
                }
            }
            Value::Array(elements) => {
                let shape = self.elements.get_or_insert_default();
                elements.iter().for_each(|element| shape.add(element));
            }
            Value::Null => {}
            _ => self.scalars = true,
        }
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::Object(members) if !self.scalars && self.elements.is_none() => {
                for (key, shape) in &self.members {
                    let member = members.entry(key.clone()).or_insert(Value::Null);
                    shape.fill(member);
                }
            }
            Value::Array(elements) if !self.scalars && self.members.is_empty() => {
                self.elements.iter().for_each(|shape| elements.iter_mut().for_each(|element| shape.fill(element)));
            }
            _ => {}
        }
    }
}
