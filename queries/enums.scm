; Enumerations; those with a body count.
(enum_specifier) @enum
