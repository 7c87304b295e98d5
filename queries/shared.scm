; Shared-memory declarations.
(declaration (type_qualifier) @_qualifier (#eq? @_qualifier "__shared__")) @shared
