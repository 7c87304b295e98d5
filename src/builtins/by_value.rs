//! May a function of a library that host code calls change a variable that it is handed by its name?
//!
//! It may where it takes a reference. A library in C has none: what it is to change it is given the address of. Of the
//! standard library in C++, few functions take one. Of a function that no header seen declares it is not known.

/// What is known of a function by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Values, addresses and what it only reads.
    Values,
    /// A reference as this argument.
    Reference(usize),
    /// Any argument may be taken by reference.
    Anything,
    /// It is a macro: whatever is named in its arguments may be changed.
    Text,
}

impl Takes {
    /// Whether the argument `at` may be changed, if it is a variable.
    pub(crate) fn may_change(self, at: usize) -> bool {
        match self {
            Takes::Values => false,
            Takes::Reference(number) => number == at,
            Takes::Anything | Takes::Text => true,
        }
    }
}

/// Namespaces of which it is known what their functions take.
const LIBRARIES: [&str; 9] =
    ["std", "chrono", "thrust", "torch", "at", "c10", "cuda", "this_thread", "filesystem"];

/// The functions in them that take references, or hand out what leads to their arguments.
const REFERRING: [&str; 22] = [
    "swap",
    "exchange",
    "ref",
    "from_chars",
    "getline",
    "tie",
    "iter_swap",
    "advance",
    "get_time",
    "get_money",
    "addressof",
    "async",
    "call_once",
    "invoke",
    "apply",
    "visit",
    "forward_as_tuple",
    "erase",
    "erase_if",
    "inserter",
    "back_inserter",
    "front_inserter",
];

/// Namespaces in the standard library whose functions take what they change by reference.
const BY_REFERENCE: [&str; 1] = ["ranges"];

/// Parts of the names of macros that only check their arguments: `HIP_CHECK`, `CUDA_SAFE_CALL`.
const CHECKING: [&str; 7] = ["CHECK", "CHK", "ASSERT", "SAFE", "CALL", "EXPECT", "REQUIRE"];

/// The words in the name of a macro that computes a number. All words have to be of these: `DIV_UP`, but not `SET_MAX`.
const COMPUTING: [&str; 15] = [
    "DIV", "DIVUP", "UPDIV", "IDIV", "INT", "CEIL", "CEILDIV", "ROUND", "ROUNDUP", "ALIGN", "UP", "DOWN",
    "TO", "MIN", "MAX",
];

/// How the names of macros begin that run the lambda which they are given, once.
const DISPATCHING: [&str; 1] = ["AT_DISPATCH"];

/// How the names of libraries in C begin; what follows is a capital letter or `_`.
const BEGINNINGS: [&str; 21] = [
    "cuda",
    "cu",
    "cublas",
    "cublasLt",
    "cudnn",
    "cufft",
    "cufftXt",
    "curand",
    "cusparse",
    "cusolver",
    "cusolverDn",
    "nccl",
    "nvtx",
    "nvml",
    "nvrtc",
    "hip",
    "MPI_",
    "omp_",
    "pthread_",
    "gl",
    "glut",
];

/// Functions in C, and those of the standard library in C++ that are called without their namespace.
const NAMES: &[&str] = &[
    // Text and files.
    "printf",
    "fprintf",
    "sprintf",
    "snprintf",
    "vprintf",
    "puts",
    "fputs",
    "putchar",
    "fputc",
    "putc",
    "perror",
    "scanf",
    "fscanf",
    "sscanf",
    "getchar",
    "fgets",
    "fgetc",
    "fopen",
    "fclose",
    "fflush",
    "fread",
    "fwrite",
    "fseek",
    "ftell",
    "rewind",
    "feof",
    "ferror",
    "strlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strcpy",
    "strncpy",
    "strcat",
    "strncat",
    "strchr",
    "strrchr",
    "strstr",
    "strtok",
    "strdup",
    "strerror",
    "isdigit",
    "isspace",
    "isalpha",
    "isalnum",
    "isprint",
    "toupper",
    "tolower",
    "atoi",
    "atol",
    "atoll",
    "atof",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "strtod",
    "strtof",
    "getopt",
    "getopt_long",
    "getenv",
    "setenv",
    // Memory, numbers, time, the process.
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "mmap",
    "munmap",
    "qsort",
    "bsearch",
    "rand",
    "srand",
    "rand_r",
    "srandom",
    "drand48",
    "srand48",
    "time",
    "clock",
    "clock_gettime",
    "gettimeofday",
    "difftime",
    "localtime",
    "strftime",
    "sleep",
    "usleep",
    "nanosleep",
    "atexit",
    "signal",
    "system",
    "fork",
    "getpid",
    "sysconf",
    "omp_get_wtime",
    // The headers of NVIDIA's samples.
    "checkCudaErrors",
    "getLastCudaError",
    "printLastCudaError",
    "findCudaDevice",
    "gpuGetMaxGflopsDeviceId",
    "gpuErrchk",
    "gpuAssert",
    "sdkCreateTimer",
    "sdkStartTimer",
    "sdkStopTimer",
    "sdkResetTimer",
    "sdkDeleteTimer",
    "sdkGetTimerValue",
    "sdkGetAverageTimerValue",
    "sdkFindFilePath",
    // The standard library in C++.
    "stoi",
    "stol",
    "stoll",
    "stoul",
    "stoull",
    "stof",
    "stod",
    "to_string",
    "make_pair",
    "make_tuple",
    "make_unique",
    "make_shared",
    "setw",
    "setprecision",
    "setfill",
    "isnan",
    "isinf",
    "isfinite",
    "bit_ceil",
    "bit_width",
];

/// Methods of containers, texts and the like, none of which takes a reference to what it changes.
const METHODS: &[&str] = &[
    "operator[]",
    "data",
    "what",
    "join",
    "view",
    "numel",
    "push_back",
    "emplace_back",
    "push_front",
    "pop_back",
    "push",
    "pop",
    "emplace",
    "insert",
    "erase",
    "resize",
    "reserve",
    "assign",
    "clear",
    "fill",
    "at",
    "front",
    "back",
    "begin",
    "end",
    "size",
    "empty",
    "count",
    "find",
    "substr",
    "append",
    "c_str",
    "str",
    "length",
    "seed",
    "precision",
    "is_open",
    "rfind",
    "compare",
    "fetch_add",
    "reshape",
    "expand",
    "contiguous",
    "data_ptr",
    "dim",
    "stride",
    "sizes",
    "strides",
    "scalar_type",
    "narrow",
    "transpose",
    "permute",
    "unsqueeze",
];

/// The methods among them, and others of such classes, that leave their object as it is.
const READING: &[&str] = &[
    "at",
    "front",
    "back",
    "begin",
    "end",
    "cbegin",
    "cend",
    "rbegin",
    "rend",
    "size",
    "empty",
    "data",
    "count",
    "find",
    "substr",
    "c_str",
    "str",
    "length",
    "rfind",
    "compare",
    "capacity",
    "has_value",
    "max_size",
    "contains",
    "what",
    "numel",
    "dim",
    "sizes",
    "data_ptr",
];

/// Classes of the standard library and of Thrust.
const CLASSES: &[&str] = &[
    "vector",
    "string",
    "array",
    "deque",
    "list",
    "map",
    "unordered_map",
    "set",
    "unordered_set",
    "pair",
    "tuple",
    "unique_ptr",
    "shared_ptr",
    "complex",
    "thread",
    "optional",
    "bitset",
    "ifstream",
    "ofstream",
    "fstream",
    "stringstream",
    "istringstream",
    "ostringstream",
    "mt19937",
    "mt19937_64",
    "default_random_engine",
    "uniform_int_distribution",
    "uniform_real_distribution",
    "normal_distribution",
    "device_vector",
    "host_vector",
    "mutex",
    "lock_guard",
    "unique_lock",
    "atomic",
];

/// What a function takes that no header seen declares, by its name and the namespaces or class in front of it.
#[must_use]
pub(crate) fn takes(outermost: Option<&str>, innermost: Option<&str>, name: &str) -> Takes {
    match outermost {
        Some("cub") if innermost.is_some_and(|class| class.starts_with("Device")) => Takes::Reference(1),
        Some(outer) if LIBRARIES.contains(&outer) => {
            let by_reference = innermost.is_some_and(|inner| BY_REFERENCE.contains(&inner));
            match by_reference || REFERRING.contains(&name) {
                true => Takes::Anything,
                false => Takes::Values,
            }
        }
        Some(_) => Takes::Anything,
        None if NAMES.contains(&name) || is_of_c_library(name) => Takes::Values,
        None if is_macro(name) => match reads_only(name) {
            true => Takes::Values,
            false => Takes::Text,
        },
        None => Takes::Anything,
    }
}

/// Whether something surely runs a lambda that it is given.
#[must_use]
pub(crate) fn runs_its_lambda(name: &str) -> bool {
    DISPATCHING.iter().any(|it| name.starts_with(it))
}

/// What a method takes of whose class nothing is seen.
#[must_use]
pub(crate) fn method_takes(name: &str) -> Takes {
    if METHODS.contains(&name) { Takes::Values } else { Takes::Anything }
}

/// What constructors of a class take of which nothing is seen.
#[must_use]
pub(crate) fn class_takes(class: &str) -> Takes {
    let bare = class.split('<').next().unwrap_or(class);
    let outermost = bare.split_once("::").map(|(outermost, _)| outermost);
    let is_known = match outermost {
        Some(outermost) => LIBRARIES.contains(&outermost),
        None => CLASSES.contains(&bare) || bare == "dim3" || super::types::holds_numbers(bare),
    };
    if is_known { Takes::Values } else { Takes::Anything }
}

/// Whether a method of such a class leaves its object as it is.
#[must_use]
pub(crate) fn only_reads(name: &str) -> bool {
    READING.contains(&name)
}

fn is_of_c_library(name: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| {
        name.strip_prefix(beginning).is_some_and(|rest| {
            beginning.ends_with('_')
                || rest.starts_with(|next: char| next.is_ascii_uppercase() || next == '_')
        })
    })
}

/// Whether a macro checks its arguments, or computes a number of them.
fn reads_only(name: &str) -> bool {
    CHECKING.iter().any(|it| name.contains(it)) || name.split('_').all(|word| COMPUTING.contains(&word))
}

/// Whether it is written as macros are. What they stand for is text that belongs where they are named.
pub(crate) fn is_macro(name: &str) -> bool {
    name.len() > 1 && name.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_its_arguments_is_told_by_its_name() {
        assert_eq!(takes(None, None, "cudaMalloc"), Takes::Values);
        assert_eq!(takes(None, None, "customize"), Takes::Anything);
        assert_eq!(takes(None, None, "CEIL_DIV"), Takes::Values);
        assert_eq!(takes(None, None, "SET_MAX"), Takes::Text);
        assert_eq!(takes(None, None, "HIP_CHECK"), Takes::Values);
        assert_eq!(takes(None, None, "CHECK_LAST"), Takes::Values);
        assert_eq!(takes(None, None, "get"), Takes::Anything);
        assert_eq!(takes(Some("std"), Some("ranges"), "sort"), Takes::Anything);
        assert_eq!(takes(Some("std"), Some("std"), "from_chars"), Takes::Anything);
        assert_eq!(takes(Some("std"), Some("std"), "max"), Takes::Values);
        assert_eq!(takes(Some("cub"), Some("DeviceReduce"), "Sum"), Takes::Reference(1));
        assert_eq!(method_takes("add_option"), Takes::Anything);
    }
}
