//! How are many numbers written in few characters?
//!
//! | numbers | written |
//! |---|---|
//! | 0, 4, 8, ..., 124 | `0..124 step 4` |
//! | 0, 0, 0, 128, 128, 128 | `0 x3, 128 x3` |
//! | 0, 4, 8, 0, 4, 8 | `(0..8 step 4) x2` |
//! | the threads 0 to 15 and 40 | `0-15, 40` |

/// The least numbers at equal distances that are written as a range.
const LEAST: usize = 3;

/// A stretch of a sequence: its first number, its step, its length.
type Stretch = (i64, i64, usize);

/// Numbers in their order.
pub(super) fn series(numbers: &[i64]) -> String {
    let mut groups: Vec<(Stretch, usize)> = Vec::new();
    let mut rest = numbers;
    while let Some(stretch) = first(rest) {
        match groups.last_mut() {
            Some((before, times)) if *before == stretch => *times += 1,
            _ => groups.push((stretch, 1)),
        }
        rest = &rest[stretch.2..];
    }
    groups.iter().map(|(stretch, times)| word(*stretch, *times)).collect::<Vec<_>>().join(", ")
}

/// The longest stretch at the start that is worth a range; else one number.
fn first(numbers: &[i64]) -> Option<Stretch> {
    let start = *numbers.first()?;
    let step = numbers.get(1).map_or(0, |second| second.wrapping_sub(start));
    let goes_on = |pair: &&[i64]| pair[1].wrapping_sub(pair[0]) == step;
    let length = 1 + numbers.windows(2).take_while(goes_on).count();
    let worth = length >= LEAST || step == 0;
    Some(if worth { (start, step, length) } else { (start, 0, 1) })
}

fn word((start, step, length): Stretch, times: usize) -> String {
    match (step, length * times) {
        (0, 1) => start.to_string(),
        (0, all) => format!("{start} x{all}"),
        _ => {
            let last = start.wrapping_add(step.wrapping_mul(length as i64 - 1));
            let range = format!("{start}..{last} step {step}");
            if times == 1 { range } else { format!("({range}) x{times}") }
        }
    }
}

/// Ascending numbers of things: `0-15, 40`.
pub(super) fn ranges(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let word = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    found.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The places of the bits that are set.
pub(super) fn bits(mask: u32) -> String {
    ranges((0..32).filter(|bit| mask >> bit & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_distances_are_ranges() {
        let rows: Vec<i64> = (0..32).map(|lane| lane * 128).collect();
        assert_eq!(series(&rows), "0..3968 step 128");
        assert_eq!(series(&[12, 8, 4, 0]), "12..0 step -4");
        assert_eq!(series(&[7; 32]), "7 x32");
        assert_eq!(series(&[0, 0, 0, 128, 128, 128]), "0 x3, 128 x3");
        assert_eq!(series(&[0, 4, 8, 0, 4, 8]), "(0..8 step 4) x2");
        assert_eq!(series(&[0, 4, 0, 4]), "0, 4, 0, 4");
        assert_eq!(series(&[]), "");
        assert_eq!(series(&[i64::MIN, 0, i64::MAX]), format!("{}, 0, {}", i64::MIN, i64::MAX));
    }

    #[test]
    fn neighbours_are_ranges() {
        assert_eq!(ranges([0, 1, 2, 40, 42, 43]), "0-2, 40, 42-43");
        assert_eq!(bits(0x8000_000f), "0-3, 31");
        assert_eq!(bits(0), "");
    }
}
