; Functions and methods with a body, wherever they stand, and what encloses them.
(function_definition) @function
(template_declaration) @template
(template_instantiation) @instantiation
(namespace_definition) @namespace
(namespace_alias_definition) @namespace
