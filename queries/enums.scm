; Enumerations with a body.
(enum_specifier body: (_)) @enum
