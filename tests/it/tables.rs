//! Parquet: one column is cut, every other byte of the table is kept.

use std::fs::File;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use curtail_tables::parquet_library as parquet;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

use crate::program::{Place, chat, text};

/// Rows of a row group.
const GROUP: usize = 7;

/// A table of a number, the texts, tags of which some are missing, and a struct, under several compressions and versions.
fn table(place: &Place, name: &str, texts: &[Option<String>], compression: Compression, version: WriterVersion) {
    let schema = "message chats {
        required int64 id;
        optional binary chat (STRING);
        optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
        optional group more { required int64 score; }
    }";
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_key_value_metadata(Some(vec![KeyValue::new(String::from("who"), String::from("me"))]));
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(place.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap();
    for (nth, texts) in texts.chunks(GROUP).enumerate() {
        let ids: Vec<i64> = (0..texts.len()).map(|row| i64::try_from(nth * GROUP + row).unwrap()).collect();
        let mut group = writer.next_row_group().unwrap();
        leaf::<Int64Type>(&mut group, &ids, None, None);
        let values: Vec<_> = texts.iter().flatten().map(|text| text.as_str().into()).collect();
        let levels: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
        leaf::<ByteArrayType>(&mut group, &values, Some(&levels), None);
        let (levels, repeats, values) = tags(&ids);
        leaf::<ByteArrayType>(&mut group, &values, Some(&levels), Some(&repeats));
        let levels: Vec<i16> = ids.iter().map(|id| i16::from(id % 3 > 0)).collect();
        let scores: Vec<i64> = ids.iter().filter(|id| *id % 3 > 0).map(|id| id * 10).collect();
        leaf::<Int64Type>(&mut group, &scores, Some(&levels), None);
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// The levels and values of the tags: no list, an empty one, one of a null, and one of two texts, in turn.
fn tags(ids: &[i64]) -> (Vec<i16>, Vec<i16>, Vec<ByteArray>) {
    let (mut levels, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for id in ids {
        match id % 4 {
            3 => {
                levels.extend([3, 3]);
                repeats.extend([0, 1]);
                values.extend([format!("tag {id}").as_str().into(), "b".into()]);
            }
            missing => {
                levels.push(i16::try_from(missing).unwrap());
                repeats.push(0);
            }
        }
    }
    (levels, repeats, values)
}

/// Writes the next leaf of a row group.
fn leaf<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
    repeats: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, repeats).unwrap();
    column.close().unwrap();
}

/// Chats of one to nine rounds, some of them missing, some over several lines.
fn chats(count: usize) -> Vec<Option<String>> {
    let chat = |nth: usize| {
        let line = chat(&format!("chat-{nth}"), 1 + nth % 9);
        if nth.is_multiple_of(4) { line.replace("}, {", "},\n  {") } else { line.trim_end().to_owned() }
    };
    (0..count).map(|nth| (!(nth + 1).is_multiple_of(6)).then(|| chat(nth))).collect()
}

fn open(place: &Place, name: &str) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(place.path(name)).unwrap()).unwrap()
}

/// All rows, each as its columns.
fn rows(place: &Place, name: &str) -> Vec<Vec<(String, Field)>> {
    open(place, name).get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect()
}

/// What the program makes of one text.
fn cut(place: &Place, command: &[&str], text: &str) -> String {
    let done = place.curtail(command).args(["--framing", "document"]).write_stdin(text).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

const WINDOW: [&str; 3] = ["window", "-n", "3"];

#[test]
fn every_other_column_the_schema_and_the_metadata_stay() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(parquet::basic::ZstdLevel::default()),
    ];
    for (nth, codec) in codecs.into_iter().enumerate() {
        let place = Place::new();
        let texts = chats(25);
        let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][nth % 2];
        table(&place, "in.parquet", &texts, codec, version);
        let run = place.curtail(&WINDOW).args(["in.parquet", "-o", "out.parquet"]).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        let (old, new) = (open(&place, "in.parquet"), open(&place, "out.parquet"));
        let (old_file, new_file) = (old.metadata().file_metadata(), new.metadata().file_metadata());
        assert_eq!(old_file.schema(), new_file.schema());
        assert_eq!(old_file.key_value_metadata(), new_file.key_value_metadata());
        assert_eq!((old_file.version(), old_file.created_by()), (new_file.version(), new_file.created_by()));
        let sizes = |reader: &SerializedFileReader<File>| -> Vec<i64> {
            reader.metadata().row_groups().iter().map(parquet::file::metadata::RowGroupMetaData::num_rows).collect()
        };
        assert_eq!(sizes(&old), sizes(&new));
        for (old, new) in old.metadata().row_groups().iter().zip(new.metadata().row_groups()) {
            for (old, new) in old.columns().iter().zip(new.columns()) {
                assert_eq!(old.compression(), new.compression());
                // Whoever reads the old file knows the encodings of the new one.
                assert!(new.encodings().all(|encoding| old.encodings_mask().is_set(encoding)), "{new:?}");
                assert_eq!(old.statistics().is_some(), new.statistics().is_some());
            }
        }
        for ((old, new), text) in rows(&place, "in.parquet").iter().zip(rows(&place, "out.parquet")).zip(&texts) {
            for ((name, old), (_, new)) in old.iter().zip(&new) {
                let wanted = match (name.as_str(), text) {
                    ("chat", Some(text)) => Field::Str(cut(&place, &WINDOW, text)),
                    _ => old.clone(),
                };
                assert_eq!(*new, wanted, "{name}");
            }
        }
    }
}

#[test]
fn the_output_is_the_same_for_any_number_of_threads() {
    let place = Place::new();
    table(&place, "in.parquet", &chats(400), Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let outputs = ["1", "2", "8"].map(|jobs| {
        let run = place.curtail(&WINDOW).args(["in.parquet", "--force", "-o", "out.parquet", "-j", jobs]).output();
        assert!(run.as_ref().unwrap().status.success(), "{run:?}");
        place.read("out.parquet")
    });
    outputs[1..].iter().for_each(|output| assert!(*output == outputs[0]));
    // What has nothing to lose stays byte for byte.
    let run = place.curtail(&["window", "-n", "900", "in.parquet", "-i"]).output().unwrap();
    assert!(run.status.success() && run.stdout.is_empty(), "{run:?}");
}

#[test]
fn small_tables_of_several_row_groups_are_cut_beside_each_other() {
    let place = Place::new();
    std::fs::create_dir(place.path("in")).unwrap();
    for name in ["in/a.parquet", "in/b.parquet"] {
        table(&place, name, &chats(40), Compression::SNAPPY, WriterVersion::PARQUET_2_0);
    }
    let both = place.curtail(&WINDOW).args(["in", "-O", "out"]).output().unwrap();
    assert!(both.status.success(), "{}", String::from_utf8_lossy(&both.stderr));
    let alone = place.curtail(&WINDOW).args(["in/a.parquet", "-o", "alone.parquet"]).output().unwrap();
    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
    for name in ["out/a.parquet", "out/b.parquet"] {
        assert_eq!(rows(&place, name), rows(&place, "alone.parquet"), "{name}");
    }
}

#[test]
fn a_row_that_fails_is_named_dropped_or_kept_as_the_user_says() {
    let place = Place::new();
    let mut texts = chats(20);
    texts[9] = Some(String::from("{\"messages\": [}"));
    table(&place, "in.parquet", &texts, Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    let run = |on_error: &str| {
        let on_error = format!("--on-error={on_error}");
        let run = place.curtail(&WINDOW).args(["in.parquet", "--force", "-o", "out.parquet", &on_error]).output();
        let run = run.unwrap();
        (run.status.code().unwrap(), text(&run.stderr))
    };
    let (status, stderr) = run("fail");
    assert_eq!(status, 2);
    assert!(stderr.contains("in.parquet:10:15: ") && stderr.contains("(row group 2, row 3)"), "{stderr}");
    assert_eq!(place.list(), ["in.parquet"]);

    assert_eq!(run("skip").0, 0);
    let (old, new) = (rows(&place, "in.parquet"), rows(&place, "out.parquet"));
    assert_eq!(new.len(), 19);
    for (old, new) in old.iter().enumerate().filter(|(row, _)| *row != 9).map(|(_, row)| row).zip(&new) {
        for column in [0, 2, 3] {
            assert_eq!(old[column], new[column]);
        }
    }
    assert_eq!(open(&place, "out.parquet").metadata().row_group(1).num_rows(), 6);

    assert_eq!(run("keep").0, 0);
    let kept = rows(&place, "out.parquet");
    assert_eq!((kept.len(), &kept[9]), (20, &old[9]));
}

#[test]
fn check_and_count_read_rows() {
    let place = Place::new();
    let mut texts = chats(20);
    let open =
        r#"{"messages": [{"role": "user", "content": "q"}, {"role": "tool", "tool_call_id": "c", "content": "r"}]}"#;
    texts[15] = Some(String::from(open));
    table(&place, "in.parquet", &texts, Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    let check = place.curtail(&["check", "in.parquet"]).output().unwrap();
    let stdout = text(&check.stdout);
    assert_eq!(check.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("in.parquet:16:") && stdout.contains("(row group 3, row 2)"), "{stdout}");
    let fix = place.curtail(&["check", "--fix", "in.parquet"]).output().unwrap();
    assert!(fix.status.code() == Some(2) && text(&fix.stderr).contains("curtail repair --in-place"), "{fix:?}");
    let mut lines = String::new();
    texts.iter().flatten().for_each(|text| lines.push_str(&format!("{}\n", text.replace('\n', " ").trim_end())));
    place.write("in.jsonl", lines.as_bytes());
    let tokens = |name: &str| {
        let count = place.curtail(&["count", "--by", "role", "--output-format", "csv", name]).output().unwrap();
        text(&count.stdout)
    };
    assert_eq!(tokens("in.parquet"), tokens("in.jsonl"));
    let repair = place.curtail(&["repair", "-i", "in.parquet"]).output().unwrap();
    assert!(repair.status.success(), "{repair:?}");
    assert!(place.curtail(&["check", "in.parquet"]).output().unwrap().status.success());
}

#[test]
fn replay_reads_rows() {
    let place = Place::new();
    let texts = chats(20);
    table(&place, "in.parquet", &texts, Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    // A line for every row, so that records have the numbers of the rows.
    let line = |text: &Option<String>| text.as_deref().map_or_else(String::new, |text| text.replace('\n', " ")) + "\n";
    place.write("in.jsonl", texts.iter().map(line).collect::<String>().as_bytes());
    let report = |name: &str| {
        let done = place.curtail(&["replay", "-p", "window -n 2", "--output-format", "json", name]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        text(&done.stdout).replace(name, "in")
    };
    let rows = report("in.parquet");
    assert!(rows.contains("\"in:20\"") && rows == report("in.jsonl"), "{rows}");
    let mut broken = texts;
    broken[15] = Some(String::from("{\"messages\": ["));
    table(&place, "in.parquet", &broken, Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    let done = place.curtail(&["replay", "-p", "window", "in.parquet"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(stderr.contains("in.parquet:16:") && stderr.contains("(row group 3, row 2)"), "{stderr}");
    assert!(done.status.code() == Some(2) && text(&done.stdout).contains("16 sessions"), "{done:?}");
}

#[test]
fn the_column_is_found_or_named() {
    let place = Place::new();
    table(&place, "in.parquet", &chats(3), Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    let printed = |arguments: &[&str]| {
        let run = place.curtail(&["count"]).args(arguments).output().unwrap();
        (run.status.code().unwrap(), text(&run.stderr))
    };
    assert_eq!(printed(&["in.parquet", "--column", "chat"]).0, 0);
    let (status, words) = printed(&["in.parquet", "--column", "chats"]);
    assert!(status == 2 && words.contains("no column `chats`") && words.contains("`chat`"), "{words}");
    table(&place, "none.parquet", &[Some(String::from("hello"))], Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    let (status, words) = printed(&["none.parquet"]);
    assert!(status == 2 && words.contains("--column"), "{words}");
    let piped = place.curtail(&["count"]).write_stdin(place.read("in.parquet")).output().unwrap();
    assert!(text(&piped.stderr).contains("name the file"), "{piped:?}");
    let streamed = place.curtail(&WINDOW).args(["in.parquet"]).output().unwrap();
    assert!(streamed.status.code() == Some(2) && streamed.stdout.is_empty(), "{streamed:?}");
    let packed = place.curtail(&WINDOW).args(["in.parquet", "-o", "out.parquet.gz"]).output().unwrap();
    assert_eq!(packed.status.code(), Some(2), "{packed:?}");
    place.write("cut.parquet", &place.read("in.parquet")[..500]);
    let torn = place.curtail(&["count", "cut.parquet"]).output().unwrap();
    assert!(torn.status.code() == Some(2) && text(&torn.stderr).contains("cut.parquet: "), "{torn:?}");
}

/// The roles or contents of lists of structs, where neither a list, nor an element, nor a content need be there.
fn texts(rows: &[usize], name: &str) -> (Vec<i16>, Vec<i16>, Vec<ByteArray>) {
    let (mut levels, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        for message in 0..(row % 6).max(1) {
            repeats.push(i16::from(message > 0));
            levels.push(match row % 6 {
                0 => 0,
                1 => 1,
                _ if name == "content" && message == 4 => 3,
                _ => 4,
            });
            if levels.last() == Some(&4) {
                let role = ["user", "assistant"][message % 2];
                let content = format!("{message} of {row}");
                values.push(if name == "role" { role.into() } else { content.as_str().into() });
            }
        }
    }
    (levels, repeats, values)
}

/// Two marks for every second message, none for the others.
fn two_marks_each(rows: &[usize]) -> (Vec<i16>, Vec<i16>, Vec<i64>) {
    let (mut levels, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        for message in 0..(row % 6).max(1) {
            let begin = i16::from(message > 0);
            match row % 6 {
                missing @ (0 | 1) => {
                    levels.push(i16::try_from(missing).unwrap());
                    repeats.push(begin);
                }
                _ if message % 2 == 0 => {
                    levels.extend([6, 6]);
                    repeats.extend([begin, 2]);
                    values.extend([i64::try_from(message).unwrap(), 7]);
                }
                _ => {
                    levels.push(4);
                    repeats.push(begin);
                }
            }
        }
    }
    (levels, repeats, values)
}

/// Lists of structs: none, empty, and of two to five messages.
fn structs(place: &Place, name: &str, count: usize) {
    let schema = "message chats {
        required int64 id;
        optional group messages (LIST) { repeated group list { optional group element {
            optional binary role (STRING);
            optional binary content (STRING);
            optional group marks (LIST) { repeated group list { optional int64 element; } }
        } } }
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(place.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    for first in (0..count).step_by(GROUP) {
        let rows: Vec<usize> = (first..count.min(first + GROUP)).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| i64::try_from(*row).unwrap()).collect();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        for name in ["role", "content"] {
            let (levels, repeats, values) = texts(&rows, name);
            leaf::<ByteArrayType>(&mut group, &values, Some(&levels), Some(&repeats));
        }
        let (levels, repeats, values) = two_marks_each(&rows);
        leaf::<Int64Type>(&mut group, &values, Some(&levels), Some(&repeats));
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn lists_of_structs_lose_elements_and_keep_the_others_untouched() {
    let place = Place::new();
    structs(&place, "in.parquet", 40);
    let run = place.curtail(&["window", "-n", "2", "in.parquet", "-o", "out.parquet"]).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    let (old, new) = (rows(&place, "in.parquet"), rows(&place, "out.parquet"));
    assert_eq!(old.len(), new.len());
    for (row, (old, new)) in old.iter().zip(&new).enumerate() {
        assert_eq!(old[0], new[0]);
        match (&old[1].1, &new[1].1) {
            (Field::ListInternal(old), Field::ListInternal(new)) => {
                // A window does not count a message without content.
                assert!(old.elements().ends_with(new.elements()), "row {row}");
                assert_eq!(new.elements().len(), old.elements().len().min(2 + usize::from(row % 6 == 5)), "row {row}");
            }
            (old, new) => assert_eq!(old, new),
        }
    }
    // No message at all remains.
    let none = place.curtail(&["filter", "--range", "50..60", "in.parquet", "-o", "none.parquet"]).output().unwrap();
    assert!(none.status.success(), "{}", text(&none.stderr));
    for (old, new) in old.iter().zip(rows(&place, "none.parquet")) {
        match (&old[1].1, &new[1].1) {
            (Field::ListInternal(_), Field::ListInternal(new)) => assert!(new.elements().is_empty()),
            (old, new) => assert_eq!(old, new),
        }
    }
    // A message that is new has a value in every leaf, and the others keep theirs.
    let short = place.curtail(&["summarize", "-n", "1", "in.parquet", "-o", "short.parquet"]).output().unwrap();
    assert!(short.status.success(), "{}", text(&short.stderr));
    let mut summaries = 0;
    for (old, new) in old.iter().zip(rows(&place, "short.parquet")) {
        match (&old[1].1, &new[1].1) {
            (Field::ListInternal(old), Field::ListInternal(new)) => {
                assert_eq!(old.elements().last(), new.elements().last());
                summaries += usize::from(format!("{:?}", new.elements().first()).contains("conversation_summaries"));
            }
            (old, new) => assert_eq!(old, new),
        }
    }
    assert!(summaries > 10, "{summaries}");
}

/// Numbers that are not finite have no form in JSON.
#[test]
fn a_changed_element_keeps_the_numbers_that_json_does_not_have() {
    let schema = "message chats {
        optional group messages (LIST) { repeated group list { optional group element {
            optional binary role (STRING);
            optional binary content (STRING);
            optional double score;
            optional group scores (LIST) { repeated group list { optional double element; } }
        } } }
    }";
    let place = Place::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(place.path("in.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let long = "word ".repeat(200);
    leaf::<ByteArrayType>(&mut group, &["user".into(), "assistant".into()], Some(&[4, 4]), Some(&[0, 1]));
    leaf::<ByteArrayType>(&mut group, &[long.as_str().into(), long.as_str().into()], Some(&[4, 4]), Some(&[0, 1]));
    leaf::<DoubleType>(&mut group, &[f64::NAN, f64::INFINITY], Some(&[4, 4]), Some(&[0, 1]));
    let scores = [1.5, f64::NEG_INFINITY, f64::NAN];
    leaf::<DoubleType>(&mut group, &scores, Some(&[6, 5, 6, 6]), Some(&[0, 2, 2, 1]));
    group.close().unwrap();
    writer.close().unwrap();
    let limit = ["limit", "-t", "60", "--on-overflow", "truncate", "in.parquet", "-o", "out.parquet"];
    let run = place.curtail(&limit).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    let [old, new] = ["in.parquet", "out.parquet"].map(|name| rows(&place, name));
    let (Field::ListInternal(old), Field::ListInternal(new)) = (&old[0][0].1, &new[0][0].1) else {
        panic!("lists: {new:?}")
    };
    assert_eq!(old.len(), new.len());
    for (old, new) in old.elements().iter().zip(new.elements()) {
        let (Field::Group(old), Field::Group(new)) = (old, new) else { panic!("structs: {new:?}") };
        let [old, new] = [old, new].map(|group| group.get_column_iter().map(|(_, field)| field).collect::<Vec<_>>());
        assert_ne!(old[1], new[1], "the content is shorter");
        assert_eq!(format!("{:?}", &old[2..]), format!("{:?}", &new[2..]));
    }
}

/// The lines of a map.
fn map_of(place: &Place, name: &str) -> Vec<serde_json::Value> {
    text(&place.read(name)).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The input's row for each row of the output: a row without a window has one.
fn sources(map: &[serde_json::Value], count: usize) -> Vec<usize> {
    let windows = |row: usize| map.iter().filter(|window| window["line"] == row + 1).count();
    (0..count).flat_map(|row| std::iter::repeat_n(row, windows(row).max(1))).collect()
}

const SPLIT: [&str; 5] = ["split", "-t", "30", "--overlap", "1segment"];

#[test]
fn a_row_becomes_several_rows_with_the_other_columns_repeated() {
    let place = Place::new();
    let texts = chats(40);
    table(&place, "in.parquet", &texts, Compression::SNAPPY, WriterVersion::PARQUET_2_0);
    let run = place.curtail(&SPLIT).args(["--map", "map.jsonl", "in.parquet", "-o", "out.parquet"]).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    let (old, new) = (rows(&place, "in.parquet"), rows(&place, "out.parquet"));
    let map = map_of(&place, "map.jsonl");
    let sources = sources(&map, old.len());
    assert!(new.len() == sources.len() && new.len() > old.len() + 20, "{} rows became {}", old.len(), new.len());
    let mut written = Vec::new();
    for (row, new) in sources.iter().zip(&new) {
        for column in [0, 2, 3] {
            assert_eq!(old[*row][column], new[column]);
        }
        match &new[1].1 {
            Field::Str(chat) => written.push(chat.split_whitespace().collect::<String>()),
            other => assert_eq!((other, &texts[*row]), (&Field::Null, &None)),
        }
    }
    // The windows are those of the same records as JSON lines.
    let lines: String = texts.iter().flatten().map(|text| text.replace('\n', " ") + "\n").collect();
    let windows = place.curtail(&SPLIT).args(["--framing", "records"]).write_stdin(lines).output().unwrap();
    let windows = text(&windows.stdout);
    assert_eq!(written, windows.lines().map(|line| line.split_whitespace().collect()).collect::<Vec<String>>());
    // A row group stays one, and the map names its rows.
    let groups = |name: &str| {
        let reader = open(&place, name);
        reader
            .metadata()
            .row_groups()
            .iter()
            .map(|group| usize::try_from(group.num_rows()).unwrap())
            .collect::<Vec<_>>()
    };
    let of_group = |group: usize| sources.iter().filter(|row| **row / GROUP == group).count();
    assert_eq!(groups("out.parquet"), (0..groups("in.parquet").len()).map(of_group).collect::<Vec<_>>());
    for window in &map {
        let [line, group, row, output] = ["line", "row_group", "row", "output_line"]
            .map(|key| usize::try_from(window[key].as_u64().unwrap()).unwrap());
        assert_eq!(((line - 1) / GROUP, (line - 1) % GROUP), (group - 1, row - 1), "{window}");
        assert_eq!((sources[output - 1], &window["output"]), (line - 1, &serde_json::json!("out.parquet")), "{window}");
    }
}

#[test]
fn a_list_of_structs_becomes_several_rows_of_its_elements() {
    let place = Place::new();
    structs(&place, "in.parquet", 60);
    let split = ["split", "-t", "12", "--map", "map.jsonl", "in.parquet", "-o", "out.parquet"];
    let run = place.curtail(&split).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    let (old, new) = (rows(&place, "in.parquet"), rows(&place, "out.parquet"));
    let map = map_of(&place, "map.jsonl");
    let sources = sources(&map, old.len());
    assert!(new.len() == sources.len() && new.len() > old.len() + 8, "{} rows became {}", old.len(), new.len());
    let mut windows = map.iter();
    for (row, new) in sources.iter().zip(&new) {
        assert_eq!(old[*row][0], new[0]);
        let (Field::ListInternal(whole), Field::ListInternal(list)) = (&old[*row][1].1, &new[1].1) else {
            assert_eq!(old[*row], *new);
            continue;
        };
        let window = windows.next().unwrap();
        let numbers = ["pinned", "context", "own"].iter().flat_map(|key| window[key].as_array().unwrap());
        let numbers = numbers.flat_map(|range| range[0].as_u64().unwrap()..range[1].as_u64().unwrap());
        let wanted: Vec<_> = numbers.map(|at| whole.elements()[usize::try_from(at).unwrap()].clone()).collect();
        assert_eq!(list.elements(), wanted, "{window}");
    }
}

/// Columns beside a list of structs keep their values where rows are dropped and elements as well.
#[test]
fn a_dropped_row_leaves_the_columns_beside_a_shorter_list_whole() {
    let place = Place::new();
    structs(&place, "in.parquet", 30);
    let old = rows(&place, "in.parquet");
    let mut found = false;
    for budget in 2..16 {
        let budget = budget.to_string();
        let limit = ["limit", "-t", &budget, "--on-error", "skip", "--force", "in.parquet", "-o", "out.parquet"];
        let run = place.curtail(&limit).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        let new = rows(&place, "out.parquet");
        let mut shorter = 0;
        for row in &new {
            let Field::Long(id) = row[0].1 else { panic!("{row:?}") };
            let whole = &old[usize::try_from(id).unwrap()];
            match (&whole[1].1, &row[1].1) {
                (Field::ListInternal(whole), Field::ListInternal(list)) => {
                    assert!(whole.elements().ends_with(list.elements()), "{row:?}");
                    shorter += usize::from(list.elements().len() < whole.elements().len());
                }
                (whole, list) => assert_eq!(whole, list),
            }
        }
        found |= shorter > 0 && new.len() < old.len();
    }
    assert!(found, "no budget drops rows and shortens others");
}

#[test]
fn rows_with_findings_and_without_targets_are_dropped() {
    let place = Place::new();
    let ask = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
    let answered = r#"{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]}"#;
    let orphan =
        r#"{"messages":[{"role":"tool","tool_call_id":"x","content":"1"},{"role":"assistant","content":"hi"}]}"#;
    let texts = [ask, answered, answered, orphan, answered].map(|text| Some(text.to_owned()));
    table(&place, "in.parquet", &texts, Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let left = |arguments: &[&str]| -> Vec<String> {
        let done = place.curtail(arguments).args(["in.parquet", "-o", "out.parquet", "--force"]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        let chats = rows(&place, "out.parquet").into_iter().filter_map(|row| match &row[1].1 {
            Field::Str(text) => Some(text.clone()),
            _ => None,
        });
        chats.collect()
    };
    assert_eq!(left(&["filter", "--drop-records-with", "P001,D003"]), [ask, answered]);
    assert_eq!(left(&["filter", "--drop-records-with", "D001"]), [answered, answered, orphan, answered]);
    assert_eq!(left(&["split", "-t", "100", "--drop-untrained"]), [answered, answered, orphan, answered]);
}

#[test]
fn a_table_is_written_only_under_a_name_of_its_format() {
    let place = Place::new();
    table(&place, "in.parquet", &[Some(chat("a", 3))], Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    for name in ["out.jsonl", "out.json", "out.ndjson", "out.arrow"] {
        let done = place.curtail(&["window", "-n", "2", "in.parquet", "-o", name]).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{name}");
        assert!(text(&done.stderr).contains("the output has the format of the input, Parquet; name it accordingly"));
        assert!(!place.path(name).exists());
    }
}

#[test]
fn the_reason_why_no_column_is_found_is_named() {
    let place = Place::new();
    let texts = [Some(String::from("no transcript"))];
    table(&place, "plain.parquet", &texts, Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let done = place.curtail(&["count", "plain.parquet"]).output().unwrap();
    let reason = text(&done.stderr);
    assert!(reason.contains("no column holds transcripts (looked in `chat`"), "{reason}");
    // The first page of the column is damaged: its header claims another length.
    table(&place, "damaged.parquet", &[Some(chat("a", 3))], Compression::SNAPPY, WriterVersion::PARQUET_1_0);
    let mut bytes = place.read("damaged.parquet");
    let at = bytes.windows(11).position(|bytes| bytes == b"question 1 ").unwrap();
    bytes[at - 24..at].fill(0xff);
    place.write("damaged.parquet", &bytes);
    let done = place.curtail(&["count", "damaged.parquet"]).output().unwrap();
    let reason = text(&done.stderr);
    assert!(reason.contains("column `chat`: ") && !reason.contains("name one with --column"), "{reason}");
}

/// A table that pyarrow compressed with Brotli: a column `messages` with a text.
const BROTLI: &str = "\
    UEFSMRUEFaQBFZABTBUCFQASAAAbUQAAxPL2Kdrln2FTvphQVMEEwUZRXjOwAScE4WCLDbbxclvbmfJCRO1BCghihAJj83YEdc2T8JnSUN31RV505mtcFB\
    8sfgcVABUSFRosFQIVEBUGFQYcNgAoTlt7InJvbGUiOiJ1c2VyIiwiY29udGVudCI6IldoZW4/In0seyJyb2xlIjoiYXNzaXN0YW50IiwiY29udGVudCI6\
    IkF0IDA1OjEyLiJ9XRhOW3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiV2hlbj8ifSx7InJvbGUiOiJhc3Npc3RhbnQiLCJjb250ZW50IjoiQXQgMDU6MT\
    IuIn1dEREAAAAbCAAAJAECBEKXAI5rFQQZLDUAGAZzY2hlbWEVAgAVDCUCGAhtZXNzYWdlcyUATBwAAAAWAhkcGRwmABwVDBk1AAYQGRgIbWVzc2FnZXMV\
    CBYCFsQEFrgEJrgBJggcNgAoTlt7InJvbGUiOiJ1c2VyIiwiY29udGVudCI6IldoZW4/In0seyJyb2xlIjoiYXNzaXN0YW50IiwiY29udGVudCI6IkF0ID\
    A1OjEyLiJ9XRhOW3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiV2hlbj8ifSx7InJvbGUiOiJhc3Npc3RhbnQiLCJjb250ZW50IjoiQXQgMDU6MTIuIn1d\
    EREAGSwVBBUAFQIAFQAVEBUCADwWnAEZBhkmAAIAAAAWxAQWAiYIFrgEACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAABGAQAAUE\
    FSMQ==\
";

#[test]
fn a_compression_that_is_not_supported_is_named() {
    let place = Place::new();
    place.write("chats.parquet", &BASE64_STANDARD.decode(BROTLI).unwrap());
    let done = place.curtail(&["count", "chats.parquet"]).output().unwrap();
    let reason = text(&done.stderr);
    assert!(reason.contains("it is compressed with brotli, which is not supported; write it with zstd"), "{reason}");
}
