; Structs, classes and unions; those with a body count.
(struct_specifier) @record
(class_specifier) @record
(union_specifier) @record
