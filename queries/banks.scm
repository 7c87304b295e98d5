; A request for eight-byte shared-memory banks.
(call_expression
  function: (identifier) @_callee
  arguments: (argument_list (identifier) @_size)
  (#any-of? @_callee "cudaDeviceSetSharedMemConfig" "cudaFuncSetSharedMemConfig")
  (#eq? @_size "cudaSharedMemBankSizeEightByte")) @eight_byte_banks
