; Variables, constants and prototypes at file, namespace or class scope; with `__shared__`, at
; any scope.
(declaration) @declaration
(field_declaration) @field
