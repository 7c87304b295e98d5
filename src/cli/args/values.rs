//! Is this value well formed?

use super::{Format, Report};
use crate::banks::ComputeCapability;
use crate::shape::BlockOption;
use crate::{rules, shape};
use clap::builder::{EnumValueParser, PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error, ValueEnum};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Takes any text; shells are told that the rules are among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject;

impl TypedValueParser for Subject {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(rules::ALL.iter().map(|rule| PossibleValue::new(rule.id).help(rule.summary))))
    }
}

/// Takes `FORMAT` and `FORMAT=FILE`; shells are told the formats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reports;

impl TypedValueParser for Reports {
    type Value = Report;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Report, Error> {
        let text = StringValueParser::new().parse_ref(command, arg, value)?;
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => {
                return Err(
                    Error::raw(ErrorKind::ValueValidation, "no file is named after `=`\n").with_cmd(command)
                );
            }
            Some((format, file)) => (format, Some(PathBuf::from(file))),
            None => (text.as_str(), None),
        };
        let format = EnumValueParser::<Format>::new().parse_ref(command, arg, OsStr::new(format))?;
        Ok(Report { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Format::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// Checks a share in percent: `5` and `5%`.
pub(super) fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<u8>();
    number
        .ok()
        .filter(|share| *share <= 100)
        .ok_or_else(|| format!("`{text}` is no share: write 0 to 100 percent"))
}

/// Checks a target: `sm_90`, `sm_90a`, `9.0`.
pub(super) fn target(text: &str) -> Result<String, String> {
    match text.parse::<ComputeCapability>() {
        Ok(_) => Ok(text.to_owned()),
        // Nothing near it is meant.
        Err(_) if !text.contains(|c: char| c.is_ascii_digit()) => {
            Err(format!("`{text}` is not a target: a target is written `sm_90` or `9.0`"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Parses `32`, `32,8`, `32,8,1` or `kernel=32,8`.
pub(super) fn block(text: &str) -> Result<BlockOption, String> {
    let (kernel, numbers) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("the kernel's name is missing before `=`".to_owned()),
        Some((kernel, numbers)) => (Some(kernel.to_owned()), numbers),
        None => (None, text),
    };
    Ok(BlockOption { kernel, shape: shape::block(numbers)?, configured: false })
}

/// The size in bytes of an element: a CUDA type's name, or the number itself.
pub fn element_bytes(text: &str) -> Result<u32, String> {
    if let Ok(bytes) = text.parse::<u32>() {
        return Ok(bytes);
    }
    let name = text.trim().trim_start_matches("unsigned ").trim_end_matches("_t");
    let (scalar, lanes) = match name.strip_suffix(['1', '2', '3', '4']) {
        // `int32`, `__half2` and `float4` end in a digit all the same.
        Some(stem) if scalar_bytes(name).is_none() => (stem, name.get(stem.len()..).unwrap_or("1")),
        _ => (name, "1"),
    };
    let bytes = scalar_bytes(scalar).zip(lanes.parse::<u32>().ok()).map(|(bytes, lanes)| bytes * lanes);
    bytes.ok_or_else(|| {
        format!("`{text}` is neither a number of bytes nor a type whose size is known, such as float4")
    })
}

fn scalar_bytes(name: &str) -> Option<u32> {
    Some(match name {
        "bool" | "char" | "uchar" | "int8" | "uint8" => 1,
        "short" | "ushort" | "half" | "__half" | "bfloat16" | "__nv_bfloat16" | "int16" | "uint16" => 2,
        "int" | "uint" | "unsigned" | "float" | "int32" | "uint32" => 4,
        "double" | "long" | "ulong" | "long long" | "longlong" | "ulonglong" | "int64" | "uint64"
        | "size" => 8,
        _ => return None,
    })
}

/// Parses `NAME` and `NAME=VALUE`.
pub(super) fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let starts_well = name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic());
    if starts_well && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("`{name}` is not a macro name"))
    }
}
