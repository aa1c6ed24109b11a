// Lexical grammar of P4_16, language version 1.2.5 (specification section 6.3 and 6.4).
//
// Four token types are never produced by a rule here. The token classifier in package parser turns an IDENTIFIER that names a
// type into a TYPE_IDENTIFIER, the '<' that opens the type arguments of a call into a TYPE_ARGS_OPEN, the '(' that opens a
// cast into a CAST_OPEN, and marks the end of the line of an @pragma with an END_PRAGMA. The specification's grammar needs the
// same knowledge; with it the grammar decides almost everywhere by one token.
lexer grammar P4Lexer;

tokens {
    TYPE_IDENTIFIER,
    TYPE_ARGS_OPEN,
    CAST_OPEN,
    END_PRAGMA
}

// Keywords.
ABSTRACT: 'abstract';
ACTION: 'action';
ACTIONS: 'actions';
APPLY: 'apply';
BIT: 'bit';
BOOL: 'bool';
BREAK: 'break';
CONST: 'const';
CONTINUE: 'continue';
CONTROL: 'control';
DEFAULT: 'default';
ELSE: 'else';
ENTRIES: 'entries';
ENUM: 'enum';
ERROR: 'error';
EXIT: 'exit';
EXTERN: 'extern';
FALSE: 'false';
FOR: 'for';
HEADER: 'header';
HEADER_UNION: 'header_union';
IF: 'if';
IN: 'in';
INOUT: 'inout';
INT: 'int';
KEY: 'key';
LIST: 'list';
MATCH_KIND: 'match_kind';
OUT: 'out';
PACKAGE: 'package';
PARSER: 'parser';
PRAGMA: 'pragma';
PRIORITY: 'priority';
RETURN: 'return';
SELECT: 'select';
STATE: 'state';
STRING: 'string';
STRUCT: 'struct';
SWITCH: 'switch';
TABLE: 'table';
THIS: 'this';
TRANSITION: 'transition';
TRUE: 'true';
TUPLE: 'tuple';
TYPE: 'type';
TYPEDEF: 'typedef';
VALUESET: 'value_set';
VARBIT: 'varbit';
VOID: 'void';
DONTCARE: '_';

// Operators and punctuation. '>>' is no token: two '>' may also close two lists of type arguments.
INVALID_HEADER: '{#}';
MASK: '&&&';
DOTS: '...';
RANGE: '..';
SHL: '<<';
AND: '&&';
OR: '||';
EQ: '==';
NE: '!=';
GE: '>=';
LE: '<=';
CONCAT: '++';
PLUS_COLON: '+' [ \t\r\n]* ':';
PLUS_SAT: '|+|';
MINUS_SAT: '|-|';
SHL_ASSIGN: '<<=';
SHR_ASSIGN: '>>=';
PLUS_SAT_ASSIGN: '|+|=';
MINUS_SAT_ASSIGN: '|-|=';
PLUS_ASSIGN: '+=';
MINUS_ASSIGN: '-=';
MUL_ASSIGN: '*=';
DIV_ASSIGN: '/=';
MOD_ASSIGN: '%=';
AND_ASSIGN: '&=';
OR_ASSIGN: '|=';
XOR_ASSIGN: '^=';
PLUS: '+';
MINUS: '-';
MUL: '*';
DIV: '/';
MOD: '%';
BIT_OR: '|';
BIT_AND: '&';
BIT_XOR: '^';
COMPLEMENT: '~';
NOT: '!';
LT: '<';
GT: '>';
LPAREN: '(';
RPAREN: ')';
LBRACKET: '[';
RBRACKET: ']';
LBRACE: '{';
RBRACE: '}';
COLON: ':';
COMMA: ',';
QUESTION: '?';
DOT: '.';
ASSIGN: '=';
SEMI: ';';
AT: '@';

IDENTIFIER: [A-Za-z_] [A-Za-z0-9_]*;

// Width and sign, base, digits. Digits that the base does not have are reported by the tree builder.
INTEGER: ([0-9]+ [ws])? (
        '0' [xX] [0-9a-fA-F_]+
        | '0' [dD] [0-9_]+
        | '0' [oO] [0-9_]+
        | '0' [bB] [0-9_]+
        | [0-9] [0-9_]*
    );

// A string may go on over several lines.
STRING_LITERAL: '"' (~["\\] | '\\' .)* '"';

COMMENT: '/*' .*? '*/' -> channel(HIDDEN);
LINE_COMMENT: '//' ~[\r\n]* -> channel(HIDDEN);
SPACE: [ \t\r\n\f\u000B]+ -> skip;

UNEXPECTED_TOKEN: .;
