//! One place of the source for people: the words as of a finding, and a picture below.
//!
//! A picture has a row for each lane of a warp and a column for each bank. A cell holds the wavefront in
//! which the bank delivers a word to the lane, so that a column with several numbers is a conflict:
//!
//! | | `tile[lane][0]`, rows of 32 words | rows of 33 |
//! |---|---|---|
//! | lane 0 | `1·······` | `1·······` |
//! | lane 1 | `2·······` | `·1······` |
//! | lane 2 | `3·······` | `··1·····` |

use super::text;
use crate::banks::Served;
use crate::diagnostic::Diagnostic;
use crate::explanation::{Explanation, Panel, Picture, WarpAtBarrier};
use crate::source::Sources;
use crate::visible::{one_line, without_commands};
use std::fmt::Write;

/// Columns of the lanes' names.
const MARGIN: usize = 8;

/// Columns of a panel: one for each bank.
const PANEL: usize = 32;

/// The banks, or lanes, above them.
const RULER: &str = "0       8       16      24";

/// Columns between two panels.
const GAP: &str = "    ";

/// Lanes of a warp.
const LANES: u8 = 32;

/// Lanes of a sketch.
const FEW_LANES: u8 = 8;

/// The most machine accesses of one request that are drawn.
const MOST_DRAWN: usize = 2;

/// The most different explanations of one place that are printed.
const MOST: usize = 4;

/// What all runs say of a place; what several say alike, once.
#[must_use]
pub fn render(sources: &Sources, explanations: &[&Explanation], colored: bool) -> Vec<u8> {
    let mut groups: Vec<(&Explanation, Vec<&str>)> = Vec::new();
    for explanation in explanations {
        match groups.iter_mut().find(|(first, _)| are_alike(first, explanation)) {
            Some((_, others)) => others.push(&explanation.run),
            None => groups.push((explanation, Vec::new())),
        }
    }
    let mut out = Vec::new();
    for (explanation, others) in groups.iter().take(MOST) {
        let mut words = explanation.words.clone();
        if !others.is_empty() {
            words.notes.push(format!("the same for {}", some(others)));
        }
        out.extend(text::render(sources, &[words], colored));
        let mut pen = Pen { out: String::new(), colored, lanes: LANES };
        if explanation.pictures.iter().any(|it| matches!(it, Picture::Requests { .. })) {
            pen.line("A row is a lane, a column a bank; a cell holds the wavefront that serves it");
            pen.line("(1 to 9, then a is the 10th, b the 11th, and so on to w, the 32nd).");
            pen.line("");
        }
        for picture in &explanation.pictures {
            match picture {
                Picture::Requests { title, panels } => pen.requests(title, panels),
                Picture::Layouts { title, rows } => pen.layouts(title, rows),
                Picture::Threads(warps) => pen.threads(warps),
            }
        }
        out.extend(without_commands(pen.out).into_bytes());
    }
    if groups.len() > MOST {
        let rest: Vec<&str> = groups[MOST..].iter().map(|(it, _)| it.run.as_str()).collect();
        let others = format!("It differs for {}; `--block` chooses a block.\n", some(&rest));
        out.extend(others.into_bytes());
    }
    out
}

/// Whether two runs say the same but for their names.
pub(crate) fn are_alike(one: &Explanation, other: &Explanation) -> bool {
    let told = |it: &Explanation| {
        let notes = it.words.notes.iter().filter(|note| !names_run(note)).cloned().collect();
        let words = Diagnostic { notes, kernel: String::new(), ..it.words.clone() };
        (words, it.pictures.clone())
    };
    told(one) == told(other)
}

/// The first picture of an explanation, with few lanes; `None` where there is nothing to draw.
pub(crate) fn sketch(explanation: &Explanation) -> Option<String> {
    let Picture::Requests { title, panels } = explanation.pictures.first()? else { return None };
    let panels = panels.get(..1)?;
    panels.first()?.example.served.as_ref()?;
    let mut pen = Pen { out: String::new(), colored: false, lanes: FEW_LANES };
    pen.requests(title, panels);
    Some(without_commands(pen.out))
}

/// Whether a note says which run it is.
fn names_run(note: &str) -> bool {
    ["in kernel ", "block is ", "reached from "].iter().any(|start| note.starts_with(start))
}

/// The first of several names.
fn some(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().copied().take(MOST).collect();
    let more = names.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    one_line(&format!("{}{more}", shown.join(", "))).into_owned()
}

/// How a cell is shown where colours are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ink {
    Free,
    Colliding,
    Faint,
}

/// What is drawn, line by line.
struct Pen {
    out: String,
    colored: bool,
    /// How many lanes have a row.
    lanes: u8,
}

impl Pen {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn cell(&self, line: &mut String, cell: char, ink: Ink) {
        let code = match ink {
            Ink::Free => "32",
            Ink::Colliding => "1;31",
            Ink::Faint => "2",
        };
        // A `String` takes every write.
        let _ = match self.colored {
            true => write!(line, "\x1b[{code}m{cell}\x1b[0m"),
            false => write!(line, "{cell}"),
        };
    }

    /// Requests side by side, machine access by machine access.
    fn requests(&mut self, title: &str, panels: &[Panel]) {
        let Some(drawn) = panels.iter().map(|it| it.example.served.as_deref()).collect::<Option<Vec<_>>>()
        else {
            let title = capital(title);
            self.line(&format!("{title}: not drawn, because it is not documented how its wavefronts arise."));
            self.line("");
            return;
        };
        self.line(&format!("{}:", capital(title)));
        let pieces = drawn.iter().map(|served| served.len()).max().unwrap_or(0);
        for piece in 0..pieces.min(MOST_DRAWN) {
            let side: Vec<Option<&Served>> = drawn.iter().map(|served| served.get(piece)).collect();
            if piece > 0 {
                self.line("");
            }
            self.piece(panels, &side, pieces > 1 || side.iter().flatten().any(|it| it.times > 1));
        }
        if pieces > MOST_DRAWN {
            self.line(&format!("(and {} more machine accesses)", pieces - MOST_DRAWN));
        }
        self.line("");
    }

    /// One machine access in each panel.
    fn piece(&mut self, panels: &[Panel], served: &[Option<&Served>], split: bool) {
        self.beside(panels.iter().map(|panel| one_line(&panel.caption).into_owned()));
        if split {
            let words = |it: &Option<&Served>| match it {
                Some(Served { shift, bytes, times, .. }) => {
                    let times = if *times > 1 { format!(", {times} times") } else { String::new() };
                    format!("bytes {shift} to {}{times}", shift + bytes - 1)
                }
                None => String::new(),
            };
            self.beside(served.iter().map(words));
        }
        self.row("bank", served.iter().map(|_| RULER.to_owned()));
        let ends = |lane: u32| {
            let end =
                |it: &&Served| it.groups.iter().rev().skip(1).any(|group| 31 - group.leading_zeros() == lane);
            served.iter().map(|it| it.as_ref().is_some_and(end)).collect::<Vec<bool>>()
        };
        for lane in 0..self.lanes {
            let mut line = format!("lane {lane:>2} ");
            for (at, served) in served.iter().enumerate() {
                if at > 0 {
                    line.push_str(GAP);
                }
                for bank in 0..PANEL as u8 {
                    let (cell, ink) = served.map_or((' ', Ink::Faint), |it| cell(it, lane, bank));
                    self.cell(&mut line, cell, ink);
                }
            }
            self.line(&line);
            if lane + 1 == self.lanes && self.lanes < LANES {
                self.line(&format!("{:MARGIN$}({} more lanes)", "", LANES - self.lanes));
            }
            // Lanes that are served together stand together.
            let ends = ends(lane.into());
            if ends.contains(&true) {
                let rule = |end: bool| if end { "-".repeat(PANEL) } else { String::new() };
                self.beside(ends.into_iter().map(rule));
            }
        }
        self.beside(served.iter().map(|it| it.map_or_else(String::new, sum)));
    }

    /// A line with a text for each panel.
    fn row(&mut self, margin: &str, texts: impl Iterator<Item = String>) {
        let cells: Vec<String> = texts.map(|text| format!("{text:<PANEL$}")).collect();
        self.line(&format!("{margin:<MARGIN$}{}", cells.join(GAP)));
    }

    /// The same for texts that go on below where they are too long.
    fn beside(&mut self, texts: impl Iterator<Item = String>) {
        let texts: Vec<Vec<String>> = texts.map(|text| wrapped(&text)).collect();
        for row in 0..texts.iter().map(Vec::len).max().unwrap_or(0) {
            let cell = |lines: &Vec<String>| lines.get(row).cloned().unwrap_or_default();
            self.row("", texts.iter().map(cell));
        }
    }

    /// Layouts of an array, a line for each. What is said alike of several in a row is said once.
    fn layouts(&mut self, title: &str, rows: &[[String; 5]]) {
        self.line(&format!("{}:", capital(title)));
        let header = ["layout", "wavefronts", "bytes", "operations", "verdict"].map(str::to_owned);
        let shown: Vec<&[String; 5]> = std::iter::once(&header).chain(rows).collect();
        let width = |at: usize| shown.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: [usize; 4] = std::array::from_fn(width);
        let mut said: Option<&str> = None;
        for [name, wavefronts, bytes, operations, verdict] in &shown {
            let again = wavefronts == "-" && said == Some(verdict);
            said = Some(verdict);
            if again {
                continue;
            }
            let [a, b, c, d] = widths;
            self.line(&format!("{name:<a$}  {wavefronts:>b$}  {bytes:>c$}  {operations:>d$}  {verdict}"));
        }
        self.line("");
    }

    /// Which threads come to a barrier.
    fn threads(&mut self, warps: &[WarpAtBarrier]) {
        self.line("One row per warp, one column per lane: # reaches the barrier, . does not,");
        self.line("- has already exited.");
        self.line("");
        self.row("lane", std::iter::once(RULER.to_owned()));
        let mut at = 0;
        while let Some(warp) = warps.get(at) {
            let like = warps[at..].iter().take_while(|other| *other == warp).count();
            let mut line = format!("{:<MARGIN$}", format!("warp {at}"));
            for lane in (0..32).filter(|lane| warp.exist >> lane & 1 == 1) {
                let (cell, ink) = match (warp.expected >> lane & 1, warp.reach >> lane & 1) {
                    (0, _) => ('-', Ink::Faint),
                    (_, 1) => ('#', Ink::Free),
                    _ => ('.', Ink::Colliding),
                };
                self.cell(&mut line, cell, ink);
            }
            self.line(&line);
            if like > 2 {
                self.line(&format!("{:MARGIN$}(warps {} to {} likewise)", "", at + 1, at + like - 1));
                at += like;
            } else {
                at += 1;
            }
        }
        self.line("");
    }
}

fn capital(text: &str) -> String {
    let text = one_line(text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What a bank does for a lane.
fn cell(served: &Served, lane: u8, bank: u8) -> (char, Ink) {
    let Some(touch) = served.touches.iter().find(|it| (it.lane, it.bank) == (lane, bank)) else {
        return ('·', Ink::Faint);
    };
    let group = served.groups.iter().find(|group| *group >> lane & 1 == 1).copied().unwrap_or(0);
    let together = |other: u8| group >> other & 1 == 1;
    let others = served.touches.iter().filter(|it| it.bank == bank && together(it.lane));
    let alone = others.into_iter().all(|other| other.wavefront == touch.wavefront);
    let digit = char::from_digit(touch.wavefront.min(35), 36).unwrap_or('?');
    (digit, if alone { Ink::Free } else { Ink::Colliding })
}

/// What a panel adds up to.
fn sum(served: &Served) -> String {
    let wavefronts = super::count(served.wavefronts as usize, "wavefront");
    match served.passes {
        1 => wavefronts,
        passes => format!("{wavefronts}, {passes} passes each"),
    }
}

/// A text in lines as wide as a panel.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= PANEL => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.chars().take(PANEL).collect()),
        }
    }
    lines
}
