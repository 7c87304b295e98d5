; Block barriers by name. Those in inline assembly are told by the assembly's text.
(call_expression function: (identifier) @_callee
  (#any-of? @_callee
    "__syncthreads" "__syncthreads_and" "__syncthreads_or" "__syncthreads_count"
    "__barrier_sync" "__barrier_sync_count")) @barrier
(call_expression function: (qualified_identifier) @_callee
  (#match? @_callee "::\\s*(sync|__syncthreads)$")) @barrier
(call_expression function: (field_expression field: (field_identifier) @_method)
  (#eq? @_method "sync")) @barrier
(gnu_asm_expression assembly_code: (_) @assembly)
