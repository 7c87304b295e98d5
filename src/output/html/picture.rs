//! How is a request of a warp drawn, so that its wavefronts can be played?
//!
//! A row is a lane, a column a bank. Each wavefront is a path of its own, with its number, so that a script only
//! has to say which of them are over. Without a script all are shown. Worked example, in units of a cell: lane 1
//! gets four words from banks 4 to 7, `M4 1h4v1h-4z`.

use super::words;
use crate::banks::{Served, Touch};
use crate::explanation::{Panel, Picture};
use crate::output::count;
use crate::visible::one_line;
use std::fmt::Write;

/// The most machine accesses of a request that are drawn.
const MOST_PIECES: usize = 2;

/// What there is to look at of one access.
pub(super) struct Pictures {
    pub drawings: Vec<Drawing>,
    pub layouts: Vec<Layouts>,
}

/// Requests side by side.
pub(super) struct Drawing {
    pub title: String,
    /// The most steps that one of its panels takes.
    pub steps: u32,
    pub panels: Vec<Side>,
}

/// One request.
pub(super) struct Side {
    pub caption: Vec<String>,
    pub wavefronts: String,
    pub pieces: Vec<Piece>,
    /// What is not drawn of it; may be empty.
    pub left_out: String,
}

/// One machine access.
pub(super) struct Piece {
    /// Which bytes of each lane, where it is one of several; may be empty.
    pub caption: String,
    /// The picture in words.
    pub words: String,
    pub waves: Vec<Wave>,
    /// The lanes below which a group that is served together ends.
    pub ends: Vec<u32>,
}

/// What is served in one wavefront, to lanes that collide with others or to those that do not.
pub(super) struct Wave {
    /// From 1, over all pieces.
    pub number: u32,
    pub collides: bool,
    pub path: String,
    pub words: String,
}

/// Layouts of an array.
pub(super) struct Layouts {
    pub title: Vec<String>,
    /// Name, wavefronts, bytes and operations more, verdict.
    pub rows: Vec<[String; 5]>,
}

impl Pictures {
    pub(super) fn of(pictures: &[Picture]) -> Pictures {
        let mut all = Pictures { drawings: Vec::new(), layouts: Vec::new() };
        for picture in pictures {
            match picture {
                Picture::Requests { title, panels } => all.drawings.push(Drawing::of(title, panels)),
                Picture::Layouts { title, rows } => {
                    let cell = |text: &String| one_line(text).into_owned();
                    let rows = rows.iter().map(|row| row.each_ref().map(cell)).collect();
                    all.layouts.push(Layouts { title: words(title), rows });
                }
                Picture::Threads(_) => {}
            }
        }
        all
    }
}

impl Drawing {
    fn of(title: &str, panels: &[Panel]) -> Drawing {
        let panels: Vec<Side> = panels.iter().map(Side::of).collect();
        let waves = panels.iter().flat_map(|side| &side.pieces).flat_map(|piece| &piece.waves);
        let steps = waves.map(|wave| wave.number).max().unwrap_or(0);
        Drawing { title: one_line(title).into_owned(), steps, panels }
    }
}

impl Side {
    fn of(panel: &Panel) -> Side {
        let caption = words(&panel.caption);
        let wavefronts = wavefronts(panel.example.cost.wavefronts);
        let Some(served) = &panel.example.served else {
            let left_out = "Not drawn: it is not documented how its wavefronts arise.".to_owned();
            return Side { caption, wavefronts, pieces: Vec::new(), left_out };
        };
        let mut before = 0;
        let mut piece = |one: &Served| {
            let piece = Piece::of(one, before, served.len() > 1);
            before += one.wavefronts;
            piece
        };
        let pieces = served.iter().take(MOST_PIECES).map(&mut piece).collect();
        let left_out = match served.len().saturating_sub(MOST_PIECES) {
            0 => String::new(),
            more => format!("Not drawn: {}.", count(more, "further machine access")),
        };
        Side { caption, wavefronts, pieces, left_out }
    }
}

impl Piece {
    fn of(served: &Served, before: u32, is_split: bool) -> Piece {
        let Served { shift, bytes, times, groups, touches, passes, .. } = served;
        let mut caption = Vec::new();
        if is_split || *times > 1 {
            caption.push(format!("bytes {shift} to {} of each lane", shift + bytes - 1));
        }
        if *times > 1 {
            caption.push(format!("done {times} times"));
        }
        if *passes > 1 {
            caption.push(format!("{passes} passes for each wavefront"));
        }
        let mut waves = Vec::new();
        for number in 1..=served.wavefronts {
            for collides in [false, true] {
                let is_own =
                    |touch: &&Touch| touch.wavefront == number && is_colliding(served, touch) == collides;
                let own: Vec<&Touch> = touches.iter().filter(is_own).collect();
                if !own.is_empty() {
                    waves.push(Wave {
                        number: before + number,
                        collides,
                        path: path(&own),
                        words: format!("wavefront {}: {}", before + number, served_words(&own)),
                    });
                }
            }
        }
        let last = |group: &u32| 32 - group.leading_zeros();
        let mut ends: Vec<u32> = groups.iter().map(last).collect();
        ends.pop();
        let busiest = (0..32).map(|bank| in_bank(touches, bank)).max().unwrap_or(0);
        let (all, fullest) = (wavefronts(served.wavefronts), count(busiest, "word"));
        let words = format!("Lanes by banks: {all}; the fullest bank serves {fullest}.");
        Piece { caption: caption.join(", "), words, waves, ends }
    }
}

fn in_bank(touches: &[Touch], bank: u8) -> usize {
    let mut waves: Vec<u32> = touches.iter().filter(|it| it.bank == bank).map(|it| it.wavefront).collect();
    waves.sort_unstable();
    waves.dedup();
    waves.len()
}

/// Whether the bank serves another word to a lane that is served together with this one.
fn is_colliding(served: &Served, touch: &Touch) -> bool {
    let group = served.groups.iter().find(|group| *group >> touch.lane & 1 == 1).copied().unwrap_or(0);
    let mut others = served.touches.iter().filter(|it| it.bank == touch.bank && group >> it.lane & 1 == 1);
    others.any(|other| other.wavefront != touch.wavefront)
}

/// The cells, neighbouring banks of a lane as one.
fn path(touches: &[&Touch]) -> String {
    let mut cells: Vec<(u8, u8)> = touches.iter().map(|it| (it.lane, it.bank)).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut out = String::new();
    for run in cells.chunk_by(|one, next| one.0 == next.0 && one.1 + 1 == next.1) {
        if let [(lane, bank), ..] = run {
            let width = run.len();
            // A `String` takes every write.
            let _ = write!(out, "M{bank} {lane}h{width}v1h-{width}z");
        }
    }
    out
}

/// `lanes 0-3 in banks 4-7`
fn served_words(touches: &[&Touch]) -> String {
    let lanes = ranges(touches.iter().map(|it| it.lane));
    let banks = ranges(touches.iter().map(|it| it.bank));
    let word = |one: &str, text: &str| {
        let plural = if text.contains([' ', '-']) { "s" } else { "" };
        format!("{one}{plural} {text}")
    };
    format!("{} in {}", word("lane", &lanes), word("bank", &banks))
}

/// `0-3, 8`
fn ranges(numbers: impl Iterator<Item = u8>) -> String {
    let mut numbers: Vec<u8> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    let runs = numbers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

fn wavefronts(number: u32) -> String {
    count(number as usize, "wavefront")
}
