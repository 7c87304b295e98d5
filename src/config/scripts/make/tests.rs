use super::super::tests::told;

/// The macros of `a.cu` beside this `Makefile`.
fn of(text: &str) -> Vec<String> {
    told(&[("Makefile", text)], "a.cu", false)
}

/// A rule for `a.cu` with these flags after these lines.
fn with(lines: &str, flags: &str) -> Vec<String> {
    of(&format!("{lines}\na: a.cu\n\tnvcc {flags} -o a a.cu\n"))
}

#[test]
fn variables_are_expanded() {
    assert_eq!(
        with("N = 4\nF = -DN=$(N) -DM=${K} -DJ=$J\nK := 5\nJ ?= 6\nJ ?= 7", "$(F)"),
        ["J=6", "M=5", "N=4"]
    );
    assert_eq!(with("N := 4\nF := -DN=$(N)\nN := 5\nF += -DM=$(N)", "$(F)"), ["M=5", "N=4"]);
    assert_eq!(with("export N ::= 4\noverride F = -DN=$(N) \\\n  -DM # text", "$(F)"), ["M=1", "N=4"]);
    assert_eq!(with("F = -DN=$(UNSET)", "$(F)"), ["N="]);
    assert_eq!(with("F = -DS='\"a b\"'", "$(F)"), ["S=\"a b\""]);
    assert_eq!(with("define F\n-DN\nendef", "$(F) -DM"), ["M=1"]);
}

#[test]
fn what_a_function_gives_is_not_known() {
    assert!(with("", "-DN=$(shell nproc) -DM=`date` -DK=$$K").is_empty());
    assert!(with("N := $(shell nproc)\nM != nproc", "-DN=$(N) -DM=$(M)").is_empty());
    assert!(with("ifeq ($(shell uname),Linux)\nF = -DN\nendif", "$(F)").is_empty());
    assert_eq!(with("N = $(strip 4 )", "-DN=$(N)"), ["N=4"]);
    assert!(with("N = $(HOME)", "-DN=$(N)").is_empty());
}

#[test]
fn conditions_are_decided_by_the_defaults() {
    let sized =
        "SIZE ?= 2\nifeq ($(SIZE),1)\nF = -DN=1\nelse ifeq ($(SIZE), 2)\nF = -DN=2\nelse\nF = -DN=3\nendif";
    assert_eq!(with(sized, "$(F)"), ["N=2"]);
    assert_eq!(with("ifdef DEBUG\nF += -DD\nelse\nF += -DR\nendif", "$(F)"), ["R=1"]);
    assert_eq!(with("ifneq \"$(A)\" 'x'\nF += -DD\nendif", "$(F)"), ["D=1"]);
    assert_eq!(with("ifndef A\nifdef B\nF = -DX\nelse\nF = -DY\nendif\nendif", "$(F)"), ["Y=1"]);
    // What is set under a condition that is not known is not known.
    let doubtful = "F = -DA\nifeq ($(X),$(shell y))\nF += -DB\nG = -DA=2\nendif";
    assert_eq!(with(doubtful, "$(F)"), ["A=1"]);
    assert!(with(doubtful, "$(F) $(G)").is_empty());
    assert!(with("N = 64\nifdef HOME\nN = 32\nendif", "-DN=$(N)").is_empty());
    // Whether the build has a GPU is not the question here.
    assert_eq!(with("USE_GPU = 1\nifeq ($(USE_GPU),1)\nF = -DGPU\nendif", "$(F)"), ["GPU=1"]);
    assert!(with("ifdef CUDA_X\nF = -DX\nelse\nF = -DY\nendif", "$(F)").is_empty());
    assert!(with("USE_CUDA = 0\nifeq ($(USE_CUDA),0)\nF = -DCPU_ONLY\nendif", "$(F)").is_empty());
}

#[test]
fn commands_that_compile_the_file_count() {
    assert_eq!(of("%.o: %.cu\n\t$(NVCC) -DN=1 -c $< -o $@\n"), ["N=1"]);
    assert_eq!(of("../out/%.o: %.cu\n\tnvcc -DN=1 -c $<\n"), ["N=1"]);
    assert_eq!(of(".cu.o:\n\tnvcc -DN=1 -c $<\n"), ["N=1"]);
    assert_eq!(of("O = a.o\n$(O): obj/%.o: ./%.cu\n\t@nvcc -DN=1 -c $<\n"), ["N=1"]);
    assert_eq!(of("S = a.cu\nt: $(S)\n\tnvcc -DN=1 $^\n"), ["N=1"]);
    assert_eq!(of("t: $(wildcard *.cu)\n\tnvcc -DN=1 $^\n"), ["N=1"]);
    assert_eq!(of("t:\n\tmkdir -p x && nvcc -DN=1 a.cu; echo -DM\n"), ["N=1"]);
    assert_eq!(of("t: a.cu ; nvcc -DN=1 a.cu\n"), ["N=1"]);
    for other in [
        "b: b.cu\n\tnvcc -DN=1 b.cu\n",
        "%.o: %.cpp\n\tg++ -DN=1 -c $<\nb: b.cu\n\tnvcc b.cu\n",
        "src/%.o: src/%.cu\n\tnvcc -DN=1 -c $<\n",
        "t: a.cu\n\techo -DN=1 a.cu\n",
        "t: a.cu\n\t# nvcc -DN=1 a.cu\n",
        "t: a.cu\n\tnvcc -DN=1 -UN a.cu\n",
        "ifdef X\nt: a.cu\n\tnvcc -DN=1 a.cu\nendif\n",
        "ifdef HOME\nt: a.cu\n\tnvcc -DN=1 a.cu\nendif\n",
        "t: a.cu\n\tnvcc -DN='1 a.cu\n",
    ] {
        assert!(of(other).is_empty(), "{other}");
    }
}

#[test]
fn commands_that_disagree_define_nothing() {
    let text = "a: a.cu\n\tnvcc -DN=1 -DM=1 -DK a.cu\nb: a.cu\n\tnvcc -DN=2 -DM=1 a.cu\n";
    assert_eq!(of(text), ["M=1"]);
    // A step that links has nothing to say, and neither has one that only lists headers.
    let text = "O = $(patsubst %.cu,%.o,$(wildcard *.cu))\nall: $(O)\n\tnvcc -o x $^\n\
        %.o: %.cu\n\tnvcc -MM $<\n\tnvcc -DN=1 -c $<\n";
    assert_eq!(of(text), ["N=1"]);
    let text = "O = $(S:.cu=.o)\nS = a.cu\nall: $(O)\n\tnvcc -o x $^\n%.o: %.cu\n\tnvcc -DN=1 -c $<\n";
    assert_eq!(of(text), ["N=1"]);
    // What a target has for itself is not known to be what the file has.
    assert!(of("debug: F += -DN=2\nF = -DN=1\n%.o: %.cu\n\tnvcc $(F) -c $<\n").is_empty());
}

#[test]
fn without_such_a_command_variables_of_flags_count() {
    assert_eq!(of("NVCCFLAGS = -O3 -DN=1\nCFLAGS = -DM\n"), ["N=1"]);
    assert_eq!(of("DEFINES = -DM\nCXXFLAGS += -DK=2\nMYFLAGS = -DJ\n"), ["K=2", "M=1"]);
    assert_eq!(of("NVCCFLAGS = -DN=1\nall:\n\t./build.sh\n"), ["N=1"]);
    let above = [("Makefile", "NVCC_FLAGS = -DN=1\n")];
    assert_eq!(told(&above, "src/a.cu", false), ["N=1"]);
    assert!(told(&[("Makefile", "CFLAGS = -DN=1\n")], "src/a.cu", false).is_empty());
}

#[test]
fn headers_take_what_all_commands_for_cuda_have() {
    let text = "%.o: %.cu\n\tnvcc -DN=1 -DM -c $<\nb: b.cu\n\tnvcc -DN=1 b.cu\nc: c.c\n\tgcc c.c\n";
    assert_eq!(told(&[("Makefile", text)], "a.cuh", false), ["N=1"]);
}

#[test]
fn other_scripts_are_included() {
    let main = "include x/../common.mk\n-include $(UNSET)missing.mk\na: a.cu\n\tnvcc $(F) a.cu\n";
    let all = [("Makefile", main), ("common.mk", "include common.mk\n\nF = -DN=1\n")];
    assert_eq!(told(&all, "a.cu", true), ["N=1 common.mk:3"]);
    let doubtful = format!("ifdef HOME\n{}", main.replacen('\n', "\nendif\n", 1));
    assert!(told(&[("Makefile", &doubtful), all[1]], "a.cu", true).is_empty());
}

#[test]
fn the_line_is_that_which_writes_the_macro() {
    let text = "N = 4\nF = -O3 \\\n -DN=$(N)\nF += -DM\na: a.cu\n\tnvcc $(F) -DK a.cu\n";
    assert_eq!(
        told(&[("Makefile", text)], "a.cu", true),
        ["K=1 Makefile:6", "M=1 Makefile:4", "N=4 Makefile:2"]
    );
}

#[test]
fn hostile_scripts_come_to_an_end() {
    for text in [
        "A = $(A)",
        "A = $(B)\nB = $(A)",
        "A = $(",
        "ifeq (",
        "else",
        "endif",
        "ifeq 'é' é",
        "é=$é",
        "$(",
        ":",
    ] {
        assert!(with(text, "-DN=$(A)$(é)").iter().all(|it| it == "N="), "{text}");
    }
    let mut text = "A0 = x\n".to_owned();
    for number in 1..100 {
        text += &format!("A{number} = {}\n", format!("$(A{})", number - 1).repeat(10));
        text += &format!("B{number} := $(A{number})$(A{number})\n");
    }
    assert!(with(&text, "-DN=$(A99) -DM=$(B99)").is_empty());
    let deep = format!("F = {}x{}\n", "$(".repeat(50_000), ")".repeat(50_000));
    assert!(with(&deep, "-DN=$(F)").is_empty());
    let nested = "ifdef A\n".repeat(10_000);
    assert!(with(&nested, "-DN").is_empty());
}
