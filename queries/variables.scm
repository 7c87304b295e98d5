; Variables, constants and prototypes at file, namespace or class scope; with `__shared__`, at
; any scope.
(declaration) @declaration
(concept_definition) @declaration
(field_declaration) @field
