; What did not parse, and statements that lost their function to it.
(ERROR) @damage
(MISSING) @damage
(ERROR (statement) @stray)
(translation_unit
  [(compound_statement) (if_statement) (for_statement) (while_statement) (do_statement)
   (switch_statement) (case_statement) (for_range_loop) (expression_statement)] @stray)
