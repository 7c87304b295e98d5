; Structs, classes and unions with a body.
(struct_specifier body: (_)) @record
(class_specifier body: (_)) @record
(union_specifier body: (_)) @record
