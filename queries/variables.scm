; Variables, constants and prototypes at file, namespace or class scope.
(declaration) @declaration
(field_declaration) @field
