; What did not parse, and statements: those outside any function lost it to an error.
(ERROR) @damage
(MISSING) @damage
[(compound_statement) (if_statement) (for_statement) (while_statement) (do_statement)
 (switch_statement) (case_statement) (for_range_loop) (expression_statement)
 (attributed_statement) (break_statement) (continue_statement) (goto_statement)
 (labeled_statement) (return_statement) (throw_statement) (try_statement)
 (co_return_statement) (co_yield_statement) (expansion_statement)
 (seh_leave_statement) (seh_try_statement)] @statement
