//! Which types does CUDA define?

/// Whether it is a type of CUDA's that holds numbers alone, and no pointer.
#[must_use]
pub(crate) fn holds_numbers(name: &str) -> bool {
    const NUMBERS: [&str; 14] = [
        "fragment",
        "half",
        "half2",
        "__half",
        "__half2",
        "__nv_bfloat16",
        "__nv_bfloat162",
        "float2",
        "float3",
        "float4",
        "int2",
        "int4",
        "uint2",
        "uint4",
    ];
    NUMBERS.contains(&name)
}
