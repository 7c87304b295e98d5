use super::super::tests::told;

/// The macros of `a.cu` beside this script.
fn of(text: &str) -> Vec<String> {
    told(&[("CMakeLists.txt", text)], "a.cu", false)
}

/// The macros of a target with `a.cu` after these lines.
fn with(lines: &str, definitions: &str) -> Vec<String> {
    of(&format!("{lines}\nadd_library(t STATIC a.cu)\ntarget_compile_definitions(t PRIVATE {definitions})\n"))
}

#[test]
fn variables_are_expanded() {
    assert_eq!(
        with("set(N 4)\nSET(M \"5\" CACHE STRING \"doc\")", "N=${N} -DM=${M} K"),
        ["K=1", "M=5", "N=4"]
    );
    assert_eq!(
        with(
            "set(N 4)\nset(N 5 CACHE STRING \"\")\nset(M 6)\nset(M 7 CACHE INT \"\" FORCE)",
            "N=${N} M=${M}"
        ),
        ["M=7", "N=4"]
    );
    assert_eq!(with("option(A \"doc\" ON)\noption(B \"doc\")", "A=${A} B=${B}"), ["A=ON", "B=OFF"]);
    assert_eq!(with("set(D A=1)\nlist(APPEND D B=2)\nstring(APPEND D 3)", "${D}"), ["A=1", "B=23"]);
    assert_eq!(with("set(D A;B)", "\"${D}\""), ["A=1", "B=1"]);
    assert!(with("", "N=${UNSET} M=$ENV{M} K=${A${B}}").is_empty());
    assert!(with("set(N 4)\nset(N)", "N=${N}").is_empty());
    assert!(with("set(N 4)\nmath(EXPR N \"${N}+1\")\nset(M 4)\nmy_function(M)", "N=${N} M=${M}").is_empty());
    assert_eq!(with("set(N 4)\nset_property(CACHE N PROPERTY STRINGS 4 8)", "N=${N}"), ["N=4"]);
    assert_eq!(with("", "S=\\\"a\\\" \"F(x)=x\" __D=1 \"E=[[x]]\""), ["E=[[x]]", "S=\"a\""]);
}

#[test]
fn all_commands_that_define_are_read() {
    let text = "add_definitions(-DA=1 -O3 -DB)\nadd_compile_definitions(C=2)\nadd_compile_options(-DD;-UB)\n\
        add_library(t a.cu)\ntarget_compile_options(t PRIVATE -DE -Xcompiler -DX)\n\
        set(CMAKE_CUDA_FLAGS \"${CMAKE_CUDA_FLAGS} -DF=4\")\nset(CMAKE_CXX_FLAGS -DG)\n\
        list(APPEND CUDA_NVCC_FLAGS -O3;-DH)\nremove_definitions(-DC)\n";
    assert_eq!(
        told(&[("CMakeLists.txt", text)], "a.cu", true),
        [
            "A=1 CMakeLists.txt:1",
            "D=1 CMakeLists.txt:3",
            "E=1 CMakeLists.txt:5",
            "F=4 CMakeLists.txt:6",
            "H=1 CMakeLists.txt:8",
        ]
    );
}

#[test]
fn generator_expressions_are_seen_through() {
    let cuda = "\"$<$<COMPILE_LANGUAGE:CUDA>:A=1;B=2>\" $<$<COMPILE_LANGUAGE:CXX>:C> $<BUILD_INTERFACE:D>";
    assert_eq!(with("", cuda), ["A=1", "B=2", "D=1"]);
    assert!(with("", "$<$<CONFIG:Debug>:A> B=$<TARGET_FILE:t> A").is_empty());
}

#[test]
fn conditions_are_decided_by_what_the_text_sets() {
    let sized = "set(S 64 CACHE STRING \"\")\nif(S STREQUAL \"32\")\nset(N 1)\nelseif(S EQUAL 64)\nset(N 2)\nelse()\n\
        set(N 3)\nendif(S)";
    assert_eq!(with(sized, "N=${N}"), ["N=2"]);
    assert!(with("set(N 1)\nif(WIN32)\nset(N 2)\nendif()", "N=${N}").is_empty());
    assert_eq!(with("set(N 1)\nif(WIN32)\nset(N 1)\nendif()", "N=${N}"), ["N=1"]);
    assert_eq!(of("add_definitions(-DN)\nif(WIN32)\nadd_definitions(-DN=2 -DM)\nendif()\n"), [""; 0]);
    assert_eq!(
        of("option(B \"\" ON)\nif(NOT B)\nadd_definitions(-DN=2)\nelse()\nadd_definitions(-DN=3)\nendif()\n"),
        ["N=3"]
    );
    // Whether the build has a GPU is not the question here.
    let gpu = "option(USE_CUDA \"\" OFF)\nif(USE_CUDA)\nadd_library(t a.cu)\nelse()\nadd_definitions(-DCPU_ONLY)\nendif()\n\
        target_compile_definitions(t PUBLIC N=4)\n";
    assert_eq!(of(gpu), ["N=4"]);
    assert_eq!(of(&gpu.replace("OFF", "ON")), ["N=4"]);
    assert!(
        of("set(D CPU CACHE STRING \"\")\nif(D STREQUAL \"CPU\")\nadd_definitions(-DX)\nendif()\n")
            .is_empty()
    );
    assert_eq!(of("option(CUDA_X \"\" ON)\nif(CUDA_X)\nadd_definitions(-DX)\nendif()\n"), ["X=1"]);
}

#[test]
fn bodies_that_run_elsewhere_define_nothing() {
    for (open, close) in [
        ("function(f t)", "endfunction()"),
        ("macro(f)", "endmacro()"),
        ("foreach(i 1 2)", "endforeach()"),
        ("while(ON)", "endwhile()"),
    ] {
        let text =
            format!("set(N 1)\n{open}\nset(N 2)\ntarget_compile_definitions(${{t}} PUBLIC M)\n{close}");
        assert_eq!(with(&text, "N=${N} M K=1"), ["K=1"], "{open}");
    }
}

#[test]
fn targets_count_that_have_the_file() {
    let two = "add_executable(a a.cu)\nadd_executable(b b.cu)\ntarget_compile_definitions(a PRIVATE N=1)\n\
        target_compile_definitions(b PRIVATE N=2 M)\n";
    assert_eq!(of(two), ["N=1"]);
    assert!(of(&two.replace("b b.cu", "b b.cu a.cu")).is_empty());
    assert_eq!(told(&[("CMakeLists.txt", two)], "h.cuh", false), [""; 0]);
    assert_eq!(told(&[("CMakeLists.txt", &two.replace("N=2", "N=1"))], "h.cuh", false), ["N=1"]);
    assert!(told(&[("CMakeLists.txt", two)], "c.cu", false).is_empty());
    // What a library keeps to itself is not of its headers.
    let library = two.replace("add_executable", "add_library").replace("N=2", "N=1");
    assert!(told(&[("CMakeLists.txt", &library)], "h.cuh", false).is_empty());
    assert_eq!(told(&[("CMakeLists.txt", &library.replace("PRIVATE", "PUBLIC"))], "h.cuh", false), ["N=1"]);
    for sources in [
        "${CMAKE_CURRENT_SOURCE_DIR}/a.cu",
        "${SRC}",
        "${SOMEWHERE}/a.cu",
        "${GLOB}",
        "${UNSET}",
        "x.cpp ${BOTH}",
    ] {
        let text = format!(
            "set(SRC b.cu a.cu)\nfile(GLOB GLOB *.cu)\nset(BOTH c.cu)\nif(WIN32)\nlist(APPEND BOTH a.cu)\nendif()\n\
            cuda_add_library(t {sources})\ntarget_compile_definitions(t PUBLIC N=1)\n"
        );
        assert_eq!(of(&text), ["N=1"], "{sources}");
    }
    assert!(
        of("file(GLOB G *.cpp)\nadd_library(t ${G})\ntarget_compile_definitions(t PUBLIC N)\n").is_empty()
    );
    assert_eq!(
        of("add_library(t)\ntarget_sources(t PRIVATE a.cu)\ntarget_compile_definitions(t PUBLIC N)\n"),
        ["N=1"]
    );
    // What is told of it by other commands is not known.
    assert!(with("set_source_files_properties(a.cu PROPERTIES COMPILE_FLAGS \"-DN=2\")", "N=1").is_empty());
    assert!(with("", "N=1)\ntarget_compile_definitions(t PUBLIC N=2").is_empty());
}

#[test]
fn libraries_hand_their_macros_on() {
    let text = "add_library(base b.cu)\ntarget_compile_definitions(base PUBLIC N=1 PRIVATE P INTERFACE I)\n\
        add_library(x::base ALIAS base)\nadd_library(mid INTERFACE)\ntarget_link_libraries(mid INTERFACE x::base)\n\
        add_library(t a.cu)\ntarget_link_libraries(t PRIVATE mid)\n";
    assert_eq!(of(text), ["I=1", "N=1"]);
    assert_eq!(told(&[("CMakeLists.txt", text)], "b.cu", false), ["N=1", "P=1"]);
    let doubtful =
        text.replace("target_link_libraries(t PRIVATE mid)", "if(W)\ntarget_link_libraries(t mid)\nendif()");
    assert!(of(&doubtful).is_empty());
    // Every branch links it.
    let link = "target_link_libraries(t PRIVATE mid";
    let nested = format!(
        "if(A)\n{link} z)\nelseif(B)\nif(C)\n{link})\nelse()\n{link})\nendif()\nelse()\n{link})\nendif()"
    );
    assert_eq!(of(&text.replace(&format!("{link})"), &nested)), ["I=1", "N=1"]);
    let some = nested.replacen("else()", "elseif(D)", 1);
    assert!(of(&text.replace(&format!("{link})"), &some)).is_empty());
    let circle = format!("{text}target_link_libraries(base PUBLIC mid t)\n");
    assert_eq!(of(&circle), ["I=1", "N=1"]);
}

#[test]
fn folders_inherit_from_those_that_add_them() {
    let root = "set(S 64 CACHE STRING \"\")\nadd_definitions(-DA)\nadd_library(base x.cpp)\nadd_subdirectory(src)\n\
        add_definitions(-DLATE)\nset(S 32)\ntarget_compile_definitions(base PUBLIC B)\n";
    let child =
        "add_library(t a.cu)\ntarget_compile_definitions(t PUBLIC S=${S})\ntarget_link_libraries(t base)\n";
    let all = [("CMakeLists.txt", root), ("src/CMakeLists.txt", child)];
    assert_eq!(
        told(&all, "src/a.cu", true),
        ["A=1 CMakeLists.txt:2", "B=1 CMakeLists.txt:7", "S=64 src/CMakeLists.txt:2"]
    );
    // One that no script adds is a project of its own.
    let apart = root.replace("add_subdirectory(src)", "");
    assert!(told(&[("CMakeLists.txt", &apart), all[1]], "src/a.cu", true).is_empty());
    // It may be added by a name that is not known, or from further above.
    let unknown = root.replace("add_subdirectory(src)", "add_subdirectory(${X})");
    assert_eq!(told(&[("CMakeLists.txt", &unknown), all[1]], "src/a.cu", false), ["A=1", "B=1", "S=64"]);
    let deep = root.replace("add_subdirectory(src)", "add_subdirectory(src/deep)");
    let all = [("CMakeLists.txt", deep.as_str()), ("src/deep/CMakeLists.txt", child)];
    assert_eq!(told(&all, "src/deep/a.cu", false), ["A=1", "B=1", "S=64"]);
    // A folder without a script is under that above it.
    let above = "add_library(t k/a.cu)\ntarget_compile_definitions(t PUBLIC N)\n";
    assert_eq!(told(&[("CMakeLists.txt", above)], "k/a.cu", false), ["N=1"]);
}

#[test]
fn hostile_scripts_come_to_an_end() {
    let mut doubling = "set(A xxxxxxxxxxxxxxxx)\n".to_owned();
    doubling += &"set(A \"${A}${A}\")\nlist(APPEND B ${A} ${B})\n".repeat(10_000);
    assert!(with(&doubling, "N=${A} M=${B}").is_empty());
    let states = "set(A 1)\nadd_subdirectory(x)\n".repeat(20_000);
    assert_eq!(with(&states, "N=${A}"), ["N=1"]);
    for text in [
        "set()",
        "set(${X} 1)",
        "list(APPEND)",
        "option()",
        "if()",
        "endif()",
        "else()",
        "foreach()",
        "file(GLOB)",
        "project()",
    ] {
        assert_eq!(with(text, "N=1").len(), usize::from(!["if()", "foreach()"].contains(&text)), "{text}");
    }
    assert!(with("set(N \\", "N=1").is_empty());
    with(&"if(A)\n".repeat(100_000), "N=1");
    with(&format!("set(A {})", "a;".repeat(400_000)), "N=${A}");
}
