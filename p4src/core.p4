/*
 * core.p4: the core library of P4_16.
 *
 * What is declared here is fixed by the language specification (section "P4 core library"); every architecture builds on it.
 */
#ifndef _CORE_P4_
#define _CORE_P4_

/* The errors that the core library itself raises. Programs add their own with further error declarations. */
error {
    NoError,               // nothing went wrong
    PacketTooShort,        // extract, lookahead or advance past the end of the packet
    NoMatch,               // no case of a select expression matches
    StackOutOfBounds,      // an element behind the end of a header stack
    HeaderTooShort,        // a varbit field would have to hold more bits than it can
    ParserTimeout,         // the parser took longer than the target allows
    ParserInvalidArgument  // an argument that the target cannot handle, such as a length that is no multiple of 8
}

/* The packet as a parser reads it: a sequence of bits, and a cursor in it. */
extern packet_in {
    /* Fills a header of fixed size from the bits at the cursor, makes it valid and moves the cursor behind it. Raises
       PacketTooShort, or StackOutOfBounds for the next element of a full stack. */
    void extract<T>(out T hdr);

    /* The same for a header with one varbit field, which gets the given number of bits. Raises HeaderTooShort as well. */
    void extract<T>(out T variableSizeHeader,
                    in bit<32> variableFieldSizeInBits);

    /* Gives the bits at the cursor as a value of type T and leaves the cursor where it is. */
    T lookahead<T>();

    /* Moves the cursor forward. */
    void advance(in bit<32> sizeInBits);

    /* Length of the packet in bytes. Not every target knows it. */
    bit<32> length();
}

/* The packet as a deparser writes it. */
extern packet_out {
    /* Appends a header if it is valid; of a stack, union or struct, everything valid in it, in order. */
    void emit<T>(in T hdr);
}

/* In a parser: goes to the state reject with the given error unless the check holds. */
extern void verify(in bool check, in error toSignal);

/* The action of tables that have nothing else to do. */
@noWarn("unused")
action NoAction() {}

/* How a table may compare a key field. Architectures declare more. */
match_kind {
    exact,    // equal in every bit
    ternary,  // equal where the mask of the entry has ones
    lpm       // the entry with the longest matching prefix wins
}

/* Ends the compilation with the message unless the check, which must be known at compile time, holds. Gives a bool so that it
   can initialize a constant. */
extern bool static_assert(bool check, string message);

/* The same with a message of the compiler's own. */
extern bool static_assert(bool check);

#endif /* _CORE_P4_ */
