// Grammar of P4_16, language version 1.2.5 (specification appendix "P4 grammar").
//
// It accepts a little more than the specification; the tree builder reports the rest with a message of its own:
//   - statements are the same everywhere, also in parser states;
//   - an expression statement is any expression; the builder wants a call, or a left-value before an assignment;
//   - binary operators stand in a flat list; the builder applies their precedence;
//   - "_", "default", masks and ranges may stand in parentheses in any expression; the builder wants them in a keyset;
// Alternatives are arranged so that one token decides, which the generated parser does by a switch; a few decisions look two
// tokens ahead.
parser grammar P4Parser;

options {
    tokenVocab = P4Lexer;
}

program
    : (declaration | SEMI)* EOF
    ;

declaration
    : annotation* (
        constantDeclaration
        | externDeclaration
        | actionDeclaration
        | parserDeclaration
        | controlDeclaration
        | packageDeclaration
        | structDeclaration
        | enumDeclaration
        | typedefDeclaration
        | errorDeclaration
        | matchKindDeclaration
        | functionOrInstantiation
    )
    ;

// ---------------------------------------------------------------- names

nonTypeName
    : IDENTIFIER
    | APPLY
    | KEY
    | ACTIONS
    | STATE
    | ENTRIES
    | TYPE
    | PRIORITY
    ;

name
    : nonTypeName
    | LIST
    | TYPE_IDENTIFIER
    ;

nonTableKwName
    : IDENTIFIER
    | TYPE_IDENTIFIER
    | APPLY
    | STATE
    | TYPE
    | PRIORITY
    | LIST
    ;

// ---------------------------------------------------------------- annotations

annotation
    : AT PRAGMA annotationName pragmaToken* END_PRAGMA
    | AT annotationName (
        LPAREN annotationBody RPAREN
        | LBRACKET structuredAnnotationBody RBRACKET
    )?
    ;

// Any keyword but "pragma" may name an annotation, as in @default or @in.
annotationName
    : name
    | ABSTRACT | ACTION | BIT | BOOL | BREAK | CONST | CONTINUE | CONTROL | DEFAULT | ELSE | ENUM | ERROR | EXIT | EXTERN | FALSE
    | FOR | HEADER | HEADER_UNION | IF | IN | INOUT | INT | MATCH_KIND | OUT | PACKAGE | PARSER | RETURN | SELECT | STRING
    | STRUCT | SWITCH | TABLE | THIS | TRANSITION | TRUE | TUPLE | TYPEDEF | VALUESET | VARBIT | VOID
    ;

annotationBody
    : (annotationToken | LPAREN annotationBody RPAREN)*
    ;

annotationToken
    : ~(LPAREN | RPAREN)
    ;

pragmaToken
    : ~END_PRAGMA
    ;

structuredAnnotationBody
    : (element (COMMA element)* COMMA?)?
    ;

// An expression or a key-value pair.
element
    : name ASSIGN expression
    | expression
    ;

// ---------------------------------------------------------------- parameters and arguments

parameterList
    : (parameter (COMMA parameter)*)?
    ;

parameter
    : annotation* (IN | OUT | INOUT)? typeRef declarator (ASSIGN expression)?
    ;

// Like p4c we take the dimensions of an array behind the name as well: bit<8> x[4] is bit<8>[4] x.
declarator
    : name (LBRACKET expression RBRACKET)*
    ;

typeParameters
    : (LT | TYPE_ARGS_OPEN) name (COMMA name)* GT
    ;

argumentList
    : (argument (COMMA argument)*)?
    ;

argument
    : name ASSIGN (expression | DONTCARE)
    | expression
    | DONTCARE
    ;

// ---------------------------------------------------------------- instantiations and functions

functionOrInstantiation
    : typeRef (
        name typeParameters? LPAREN parameterList RPAREN blockStatement
        | LPAREN argumentList RPAREN declarator objInitializer? SEMI
    )
    | (VOID | nonTypeName) name typeParameters? LPAREN parameterList RPAREN blockStatement
    ;

objInitializer
    : ASSIGN LBRACE objDeclaration* RBRACE
    ;

objDeclaration
    : annotation* functionOrInstantiation
    ;

functionPrototype
    : typeOrVoid name typeParameters? LPAREN parameterList RPAREN
    ;

// ---------------------------------------------------------------- parsers

parserDeclaration
    : PARSER name typeParameters? LPAREN parameterList RPAREN (
        SEMI
        | (LPAREN parameterList RPAREN)? LBRACE parserElement* RBRACE
    )
    ;

parserElement
    : annotation* (
        parserState
        | constantDeclaration
        | valueSetDeclaration
        | variableOrInstantiation SEMI
    )
    ;

parserState
    : STATE name LBRACE statement* transitionStatement? RBRACE
    ;

transitionStatement
    : TRANSITION (name SEMI | selectExpression)
    ;

selectExpression
    : SELECT LPAREN expressionList RPAREN LBRACE selectCase* RBRACE
    ;

selectCase
    : keyset COLON name SEMI
    ;

expressionList
    : (expression (COMMA expression)*)?
    ;

// A tuple of keysets is a parenthesised expression here.
keyset
    : expression ((MASK | RANGE) expression)?
    | DEFAULT
    | DONTCARE
    ;

valueSetDeclaration
    : VALUESET LT typeRef GT LPAREN expression RPAREN name SEMI
    ;

// ---------------------------------------------------------------- controls

controlDeclaration
    : CONTROL name typeParameters? LPAREN parameterList RPAREN (
        SEMI
        | (LPAREN parameterList RPAREN)? LBRACE controlElement* APPLY blockStatement RBRACE
    )
    ;

controlElement
    : annotation* (
        constantDeclaration
        | actionDeclaration
        | tableDeclaration
        | variableOrInstantiation SEMI
    )
    ;

packageDeclaration
    : PACKAGE name typeParameters? LPAREN parameterList RPAREN SEMI
    ;

actionDeclaration
    : ACTION name LPAREN parameterList RPAREN blockStatement
    ;

// ---------------------------------------------------------------- externs

externDeclaration
    : EXTERN name typeParameters? LBRACE methodPrototype* RBRACE
    | EXTERN functionPrototype SEMI
    ;

methodPrototype
    : annotation* (
        TYPE_IDENTIFIER LPAREN parameterList RPAREN SEMI
        | ABSTRACT? functionPrototype SEMI
    )
    ;

// ---------------------------------------------------------------- types

typeRef
    : (baseType | namedType | tupleType | p4listType) (LBRACKET expression RBRACKET)*
    ;

namedType
    : typeName (LT typeArgumentList GT)?
    ;

typeName
    : DOT? TYPE_IDENTIFIER
    ;

p4listType
    : LIST LT typeArg GT
    ;

tupleType
    : TUPLE LT typeArgumentList GT
    ;

baseType
    : BOOL
    | MATCH_KIND
    | ERROR
    | STRING
    | (BIT | INT) (LT width GT)?
    | VARBIT LT width GT
    ;

// The specification wants a number or an expression in parentheses; like p4c we take any expression in which no '>' stands
// outside of parentheses.
width
    : unary (widthOp unary)* (QUESTION width COLON width)?
    ;

widthOp
    : MUL | DIV | MOD
    | CONCAT | PLUS | MINUS | PLUS_SAT | MINUS_SAT
    | SHL
    | BIT_AND
    | BIT_XOR
    | BIT_OR
    | LT | LE | GE
    | EQ | NE
    | AND
    | OR
    ;

typeOrVoid
    : typeRef
    | VOID
    | nonTypeName // a type variable declared behind it, or an unknown type
    ;

typeArgumentList
    : (typeArg (COMMA typeArg)*)?
    ;

typeArg
    : typeRef
    | nonTypeName
    | VOID
    | DONTCARE
    ;

structDeclaration
    : (HEADER | HEADER_UNION | STRUCT) name typeParameters? LBRACE structField* RBRACE
    ;

structField
    : annotation* typeRef declarator SEMI
    ;

enumDeclaration
    : ENUM name LBRACE enumMember (COMMA enumMember)* COMMA? RBRACE
    | ENUM typeRef name LBRACE enumMember (COMMA enumMember)* COMMA? RBRACE
    ;

enumMember
    : name (ASSIGN expression)?
    ;

errorDeclaration
    : ERROR LBRACE identifierList COMMA? RBRACE
    ;

matchKindDeclaration
    : MATCH_KIND LBRACE identifierList COMMA? RBRACE
    ;

identifierList
    : name (COMMA name)*
    ;

typedefDeclaration
    : TYPEDEF typeRef declarator SEMI
    | TYPEDEF annotation* (structDeclaration | enumDeclaration) name SEMI
    | TYPE typeRef name SEMI
    ;

// ---------------------------------------------------------------- statements

statement
    : SEMI
    | expressionStatement SEMI
    | EXIT SEMI
    | BREAK SEMI
    | CONTINUE SEMI
    | RETURN expression? SEMI
    | ifStatement
    | switchStatement
    | annotation* (
        blockBody
        | forStatement
        | constantDeclaration
        | typeStatement SEMI
    )
    ;

blockStatement
    : annotation* blockBody
    ;

blockBody
    : LBRACE statement* RBRACE
    ;

// An assignment or a call.
expressionStatement
    : statementHead postfixOp* (assignOp expression)?
    ;

statementHead
    : DOT? nonTypeName
    | THIS
    | LPAREN expression RPAREN
    ;

assignOp
    : ASSIGN
    | PLUS_ASSIGN
    | MINUS_ASSIGN
    | MUL_ASSIGN
    | DIV_ASSIGN
    | MOD_ASSIGN
    | SHL_ASSIGN
    | SHR_ASSIGN
    | AND_ASSIGN
    | OR_ASSIGN
    | XOR_ASSIGN
    | PLUS_SAT_ASSIGN
    | MINUS_SAT_ASSIGN
    ;

// What starts with a type: a variable, an instantiation, or the direct application of a parser or control type.
typeStatement
    : typeRef (
        declarator (ASSIGN expression)?
        | LPAREN argumentList RPAREN declarator objInitializer?
        | DOT name LPAREN argumentList RPAREN
    )
    ;

variableOrInstantiation
    : typeRef (
        declarator (ASSIGN expression)?
        | LPAREN argumentList RPAREN declarator objInitializer?
    )
    ;

constantDeclaration
    : CONST typeRef declarator ASSIGN expression SEMI
    ;

ifStatement
    : IF LPAREN expression RPAREN statement (ELSE statement)?
    ;

switchStatement
    : SWITCH LPAREN expression RPAREN LBRACE switchCase* RBRACE
    ;

switchCase
    : (DEFAULT | expression) COLON blockStatement?
    ;

forStatement
    : FOR LPAREN (
        (forInit (COMMA forInit)*)? SEMI expression SEMI (expressionStatement (COMMA expressionStatement)*)?
        | annotation* typeRef name IN expression (RANGE expression)?
    ) RPAREN statement
    ;

forInit
    : annotation* typeRef declarator (ASSIGN expression)?
    | expressionStatement
    ;

// ---------------------------------------------------------------- tables

tableDeclaration
    : TABLE name LBRACE tableProperty tableProperty* RBRACE
    ;

tableProperty
    : KEY ASSIGN LBRACE keyElement* RBRACE
    | ACTIONS ASSIGN LBRACE actionListElement* RBRACE
    | annotation* CONST? (
        ENTRIES ASSIGN LBRACE entry* RBRACE
        | nonTableKwName ASSIGN expression SEMI
    )
    ;

keyElement
    : expression COLON name annotation* SEMI
    ;

actionListElement
    : annotation* actionRef SEMI
    ;

actionRef
    : DOT? name (LPAREN argumentList RPAREN)?
    ;

entry
    : CONST? (PRIORITY ASSIGN (INTEGER | LPAREN expression RPAREN) COLON)? keyset COLON actionRef annotation* SEMI
    ;

// ---------------------------------------------------------------- expressions

expression
    : binary (QUESTION expression COLON expression)?
    ;

binary
    : unary (binaryOp unary)*
    ;

binaryOp
    : MUL | DIV | MOD
    | CONCAT | PLUS | MINUS | PLUS_SAT | MINUS_SAT
    | SHL | GT GT
    | BIT_AND
    | BIT_XOR
    | BIT_OR
    | LT | GT | LE | GE
    | EQ | NE
    | AND
    | OR
    ;

unary
    : (NOT | COMPLEMENT | MINUS | PLUS) unary
    | CAST_OPEN typeRef RPAREN unary
    | postfix
    ;

postfix
    : primary postfixOp*
    ;

postfixOp
    : DOT name
    | LBRACKET expression ((COLON | PLUS_COLON) expression)? RBRACKET
    | LPAREN argumentList RPAREN
    | TYPE_ARGS_OPEN typeArgumentList GT LPAREN argumentList RPAREN
    ;

primary
    : INTEGER
    | STRING_LITERAL
    | TRUE
    | FALSE
    | THIS
    | DOTS
    | ERROR
    | INVALID_HEADER
    | DOT? nonTypeName
    | namedType
    | LBRACE (element (COMMA element)* COMMA?)? RBRACE
    | LPAREN keyset (COMMA keyset)* RPAREN
    ;
