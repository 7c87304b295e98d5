; Type aliases.
(alias_declaration) @alias
(type_definition) @alias
