//! What does `cudalint banks` print?

use cudalint::banks::Target;
use cudalint::output::banks::{Agreement, Shape, compare_requests, write_picture};

fn target(text: &str) -> Target {
    Target::new(text.parse().unwrap())
}

fn picture(element_bytes: u32, shape: &str, on: &str, colour: bool) -> String {
    let mut out = Vec::new();
    write_picture(&mut out, element_bytes, &shape.parse().unwrap(), &target(on), colour).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_picture_marks_what_a_column_read_cannot_get_at_once() {
    let expected = "\
t[8][8] of 4-byte elements on sm_90: the bank of each element (32 banks of 4 bytes)

row\\col  0   1   2   3   4   5   6   7
      0  0*  1*  2*  3*  4*  5*  6*  7*
      1  8*  9* 10* 11* 12* 13* 14* 15*
      2 16* 17* 18* 19* 20* 21* 22* 23*
      3 24* 25* 26* 27* 28* 29* 30* 31*
      4  0*  1*  2*  3*  4*  5*  6*  7*
      5  8*  9* 10* 11* 12* 13* 14* 15*
      6 16* 17* 18* 19* 20* 21* 22* 23*
      7 24* 25* 26* 27* 28* 29* 30* 31*
* lies in a bank that the same column read wants another word of

a warp reading column 0 (8 rows) takes 2 wavefronts instead of 1: a 2-way bank conflict, lanes 0 and 4 meet in bank 0
a warp reading columns 0 to 3 (lane l reads row l % 8) takes 2 wavefronts instead of 1: a 2-way bank conflict, lanes 0 and 4 meet in bank 0
a warp reading row 0 (8 columns) takes 1 wavefront: no conflict
help: pad the rows by 4 elements: with t[8][12] no column conflicts (+128 bytes)
";
    assert_eq!(picture(4, "8x8", "sm_90", false), expected);
}

#[test]
fn a_padded_tile_has_no_marks() {
    let (bad, good) = (picture(4, "32x32", "sm_90", false), picture(4, "32x33", "sm_90", false));
    assert_eq!(bad.matches('*').count(), 32 * 32 + 1, "{bad}");
    assert!(
        bad.contains("column 0 (32 rows) takes 32 wavefronts instead of 1: a 32-way bank conflict"),
        "{bad}"
    );
    assert!(
        bad.contains("pad the rows by 1 element: with t[32][33] no column conflicts (+128 bytes)"),
        "{bad}"
    );
    assert!(!good.contains('*') && !good.contains("pad"), "{good}");
    assert!(good.contains("column 0 (32 rows) takes 1 wavefront: no conflict"), "{good}");
}

#[test]
fn the_table_shows_every_element_of_a_small_array() {
    let text = picture(4, "4x33", "sm_90", false);
    let cells: Vec<Vec<u32>> = text
        .lines()
        .skip(3)
        .take(4)
        .map(|line| line.split_whitespace().skip(1).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    for (row, cells) in cells.iter().enumerate() {
        let expected: Vec<u32> = (0..33).map(|column| (row as u32 * 33 + column) % 32).collect();
        assert_eq!(cells, &expected);
    }
}

#[test]
fn colour_adds_to_the_picture_and_replaces_nothing() {
    let coloured = picture(4, "32x32", "sm_90", true);
    assert!(coloured.contains("\x1b[1;31m 0*\x1b[0m"));
    let plain = coloured.replace("\x1b[1;31m", "").replace("\x1b[0m", "");
    assert_eq!(plain, picture(4, "32x32", "sm_90", false));
}

#[test]
fn wide_elements_show_the_banks_that_they_span() {
    let text = picture(16, "8x9", "sm_90", false);
    assert!(text.contains("      1   4-7   8-11  12-15"), "{text}");
    assert!(
        text.contains("columns 0 to 3 (lane l reads row l % 8) takes 4 wavefronts: no conflict"),
        "{text}"
    );
}

#[test]
fn arrays_of_one_and_three_dimensions_have_pictures_too() {
    let line = picture(4, "100", "sm_90", false);
    assert!(line.contains("     64:  0  1  2"), "{line}");
    assert!(line.contains("reading t[2 * lane] takes 2 wavefronts instead of 1"), "{line}");
    let planes = picture(4, "2x32x32", "sm_90", false);
    assert!(planes.contains("t[0]\n") && planes.contains("t[1]\n"), "{planes}");
    assert!(planes.contains("with t[2][32][33] no column conflicts (+256 bytes)"), "{planes}");
}

#[test]
fn large_arrays_are_cut_and_say_so() {
    let text = picture(1024, "65536x65536x65536", "sm_35", false);
    assert!(text.contains("(the first 33 of 65536 rows and 33 of 65536 columns)"), "{text}");
    assert!(text.contains("(the first 4 of 65536 planes)"), "{text}");
    assert!(text.contains("more than the 49152 that may be declared statically"), "{text}");
}

#[test]
fn the_device_decides() {
    assert!(picture(4, "32x2", "sm_35", false).contains("column 0 (32 rows) takes 1 wavefront"));
    assert!(
        picture(4, "32x2", "sm_50", false).contains("column 0 (32 rows) takes 2 wavefronts instead of 1")
    );
}

#[test]
fn what_is_no_array_is_refused() {
    for text in ["", "x", "0", "4x0", "4x", "1x2x3x4", "-1", "4,4", "70000", "99999999999999999999"] {
        let error = text.parse::<Shape>().unwrap_err().to_string();
        assert!(error.contains(&format!("`{text}` is not a shape")), "{error}");
    }
    for element_bytes in [0, 1025, u32::MAX] {
        let shape = "4x4".parse().unwrap();
        let error = write_picture(&mut Vec::new(), element_bytes, &shape, &target("9.0"), false).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    }
}

// ---- Tables of requests

/// The table written, the summary line, and the outcome.
fn compare(table: &str) -> (String, String, Result<Agreement, String>) {
    let (mut out, mut summary) = (Vec::new(), Vec::new());
    let outcome = compare_requests(&mut table.as_bytes(), "t.csv", &target("sm_90"), &mut out, &mut summary)
        .map_err(|error| error.to_string());
    (String::from_utf8(out).unwrap(), String::from_utf8(summary).unwrap(), outcome)
}

const BY_LANE: &str =
    "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124";

#[test]
fn the_measured_tables_agree() {
    for (file, rows) in [("requests-sm90", 866), ("requests-sm90-more", 400), ("async-copies-sm90", 241)] {
        let path = format!("{}/fixtures/hardware/{file}.csv", env!("CARGO_MANIFEST_DIR"));
        let table = std::fs::read_to_string(path).unwrap();
        let (out, summary, outcome) = compare(&table);
        let expected = Agreement { rows, agree: rows, ..Agreement::default() };
        assert_eq!(outcome, Ok(expected), "{summary}");
        assert_eq!(summary, format!("t.csv on sm_90: {rows} rows, {rows} agree, 0 disagree\n"));
        for (given, written) in table.lines().zip(out.lines()).skip(1) {
            let measured = given.rsplit(',').next().unwrap();
            assert_eq!(written, format!("{given},{measured}"));
        }
        assert_eq!(table.lines().count(), out.lines().count());
    }
}

#[test]
fn header_and_measurement_may_be_missing() {
    let header = "op,bytes_per_lane,active_mask_hex,byte_offset_of_each_lane,wavefronts,model_wavefronts\n";
    let (out, summary, outcome) = compare(&format!("ld,4,0xffffffff,{BY_LANE}\n"));
    assert_eq!(out, format!("{header}ld,4,0xffffffff,{BY_LANE},,1\n"));
    assert!(outcome.unwrap().all_agree());
    assert_eq!(summary, "t.csv on sm_90: 1 rows, 0 agree, 0 disagree, 1 not measured\n");
}

#[test]
fn a_disagreement_is_counted_and_shown() {
    let (out, _, outcome) = compare(&format!("st,4,ffffffff,{BY_LANE},2\nred.add.f32,4,f,{BY_LANE},3\n"));
    let found = outcome.unwrap();
    assert_eq!(found, Agreement { rows: 2, disagree: 1, unknown: 1, ..Agreement::default() });
    assert!(!found.all_agree());
    assert!(
        out.contains(&format!("{BY_LANE},2,1\n")) && out.contains(&format!("{BY_LANE},3,unknown\n")),
        "{out}"
    );
}

#[test]
fn an_error_names_file_and_line() {
    let good = format!("ld,4,f,{BY_LANE},1\n");
    for (bad, why) in [
        (format!("load,4,f,{BY_LANE},1"), "unknown operation `load`"),
        (format!("ld,four,f,{BY_LANE},1"), "`four` is not a number of bytes per lane"),
        (format!("ld,4,fffffffff,{BY_LANE},1"), "`fffffffff` is not a mask"),
        (format!("ld,4,+f,{BY_LANE},1"), "`+f` is not a mask"),
        (format!("ld,4,f,{BY_LANE},many"), "`many` is not a number of wavefronts"),
        ("ld,4,f,0 1 2,1".to_owned(), "3 byte offsets"),
        (format!("ld,4,f,{BY_LANE}x,1"), "`124x` is not a byte offset"),
        ("ld,4".to_owned(), "2 columns"),
    ] {
        let (_, _, outcome) = compare(&format!("{good}{bad}\n"));
        let error = outcome.unwrap_err();
        assert!(error.starts_with("t.csv:2: ") && error.contains(why), "{error}");
    }
    let mut bytes = good.into_bytes();
    bytes.extend(b"ld,4,f,\xff\n");
    let (mut out, mut summary) = (Vec::new(), Vec::new());
    let outcome = compare_requests(&mut &bytes[..], "t.csv", &target("9.0"), &mut out, &mut summary);
    assert_eq!(outcome.unwrap_err().to_string(), "t.csv:2: not UTF-8 text");
}
