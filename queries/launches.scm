; Kernel launches.
(kernel_call_syntax) @launch
(call_expression function: (identifier) @_callee
  (#any-of? @_callee
    "cudaLaunchKernel" "cudaLaunchKernelExC" "cudaLaunchKernelEx" "cudaLaunchCooperativeKernel"
    "cuLaunchKernel" "cuLaunchKernelEx" "cuLaunchCooperativeKernel"
    "hipLaunchKernelGGL" "hipLaunchKernel")) @launch
