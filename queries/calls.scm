; Kernel launches, block barriers and requests for eight-byte banks, told apart by the callee;
; barriers in inline assembly are told by the assembly's text.
(kernel_call_syntax) @launch
(call_expression) @call
(gnu_asm_expression) @assembly
