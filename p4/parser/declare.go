package parser

import "khop/p4/grammar"

// run walks over all tokens.
func (c *classifier) run() {
	for i := 0; i < len(c.toks); i++ {
		switch c.toks[i].typ {
		case tAt:
			i = c.annotation(i)
		case tLBrace:
			fields := c.top().head && c.top().fields
			c.push(false)
			c.top().fields = fields
		case tRBrace:
			// The block's scope ends, and with it the scope of the head in front of it.
			c.endHead()
			c.pop()
			c.endHead()
		case tSemi:
			c.endHead()
		case grammar.P4LexerHEADER, grammar.P4LexerHEADER_UNION, grammar.P4LexerSTRUCT:
			i = c.declareType(i + 1)
			c.top().fields = c.top().head
		case grammar.P4LexerPARSER, grammar.P4LexerCONTROL, grammar.P4LexerPACKAGE:
			i = c.declareType(i + 1)
		case grammar.P4LexerEXTERN:
			if k := i + 1; isNameTok(c.typ(k)) {
				if end := c.typeArgsAt(k + 1); c.typ(k+1) == tLBrace || end > 0 && c.typ(end) == tLBrace {
					i = c.declareType(k)
				}
			}
		case grammar.P4LexerENUM:
			i = c.enum(i + 1)
		case grammar.P4LexerTYPEDEF, grammar.P4LexerTYPE:
			i = c.typedef(i)
		case grammar.P4LexerACTION, grammar.P4LexerTABLE, grammar.P4LexerSTATE:
			if isNameTok(c.typ(i + 1)) {
				kind := c.toks[i].typ
				if i++; kind != grammar.P4LexerSTATE {
					c.declare(c.textOf(i), false)
				}
				if kind == grammar.P4LexerACTION {
					c.push(true)
				}
			}
		case tLParen:
			c.paren(i)
		case tLT:
			c.less(i)
		default:
			if isNameTok(c.toks[i].typ) {
				c.name(i)
			}
		}
	}
}

// annotation returns the index of the last token of the annotation at i. Its name and an unstructured body stay as they are.
func (c *classifier) annotation(i int) int {
	if c.typ(i+1) == grammar.P4LexerPRAGMA {
		for i < len(c.toks) && c.typ(i) != tEndPragma {
			i++
		}
		return i
	}
	i++ // the name
	if c.typ(i+1) == tLParen {
		depth := 0
		for k := i + 1; k < len(c.toks); k++ {
			switch c.typ(k) {
			case tLParen:
				depth++
			case tRParen:
				if depth--; depth == 0 {
					c.annoEnds[k] = true
					return k
				}
			}
		}
	}
	c.annoEnds[i] = true
	if c.typ(i+1) == tLBracket { // the expressions of a structured body are classified like others
		if end := c.skip(i + 1); end > 0 {
			c.annoEnds[end-1] = true
		}
	}
	return i
}

// declareType declares the type whose name stands at i, and its type parameters in the scope of its head. It returns the
// index of the last token that it has dealt with.
func (c *classifier) declareType(i int) int {
	if !isNameTok(c.typ(i)) {
		return i - 1
	}
	c.declare(c.textOf(i), true)
	c.push(true)
	return c.typeParams(i+1) - 1
}

// typeParams declares the type parameters in the list at i, if there is one, and returns the index behind it.
func (c *classifier) typeParams(i int) int {
	if c.typ(i) != tLT {
		return i
	}
	end := c.typeParamList(i)
	if end < 0 {
		return i
	}
	for k := i + 1; k < end; k += 2 {
		c.declare(c.textOf(k), true)
	}
	return end
}

// typeParamList returns the index behind a list of type parameters at i, or -1 if there is none.
func (c *classifier) typeParamList(i int) int {
	for {
		if !isNameTok(c.typ(i + 1)) {
			return -1
		}
		switch i += 2; c.typ(i) {
		case tComma:
		case tGT:
			return i + 1
		default:
			return -1
		}
	}
}

// enum declares the enum whose underlying type or name stands at i.
func (c *classifier) enum(i int) int {
	if isNameTok(c.typ(i)) && c.typ(i+1) == tLBrace {
		c.declare(c.textOf(i), true)
		return i
	}
	end := c.typeAt(i)
	if end < 0 || !isNameTok(c.typ(end)) {
		return i - 1
	}
	c.markTypes(i, end)
	c.declare(c.textOf(end), true)
	return end
}

// typedef declares the name that the typedef (or type) at i gives.
func (c *classifier) typedef(i int) int {
	switch c.typ(i + 1) {
	case grammar.P4LexerSTRUCT, grammar.P4LexerHEADER, grammar.P4LexerHEADER_UNION, grammar.P4LexerENUM, tAt:
		// A type declared in place; the name follows its block.
		for k := i + 1; k < len(c.toks); k++ {
			if c.typ(k) == tLBrace {
				if k = c.skip(k); k > 0 && isNameTok(c.typ(k)) && c.typ(k+1) == tSemi {
					c.declare(c.textOf(k), true)
				}
				break
			}
		}
		return i
	}
	end := c.typeAt(i + 1)
	if end < 0 || !isNameTok(c.typ(end)) || c.typ(end+1) != tSemi {
		return i
	}
	c.markTypes(i+1, end)
	c.declare(c.textOf(end), true)
	return end
}

// name decides on the name at i: a declaration of something that is no type, or the use of a type or a value.
func (c *classifier) name(i int) {
	text := c.textOf(i)
	prev, next := c.typ(i-1), c.typ(i+1)
	if prev == tDot && i >= 2 && c.endsOperand(i-2) {
		return // a member
	}
	if c.followsType(i - 1) {
		switch next {
		case tLParen, tLT:
			// A function. Its type parameters and parameters are the head of its block.
			if next == tLParen || c.typeParamList(i+1) > 0 {
				c.declare(text, false)
				c.push(true)
				c.typeParams(i + 1)
				return
			}
		case tAssign, tSemi, tComma, tRParen, tLBracket, grammar.P4LexerIN:
			if !c.top().fields {
				c.declare(text, false)
			}
			return
		}
	} else if prev == tRParen && !c.casts[i-1] && !c.annoEnds[i-1] && (next == tSemi || next == tAssign && c.typ(i+2) == tLBrace) {
		c.declare(text, false) // an instance
		return
	}
	if c.typ(i) != tIdent {
		return
	}
	if isType, known := c.lookup(text); isType || !known && c.looksLikeType(i) {
		c.toks[i].typ = tTypeIdent
	}
}

// endsOperand tells whether the token at i can end an operand that a '.' then selects from.
func (c *classifier) endsOperand(i int) bool {
	switch c.typ(i) {
	case tRParen, tRBracket, tGT, grammar.P4LexerTHIS, grammar.P4LexerERROR:
		return true
	}
	return isNameTok(c.typ(i))
}

// followsType tells whether the token at i ends a type in a place where a name then declares something.
func (c *classifier) followsType(i int) bool {
	switch t := c.typ(i); t {
	case tIdent, tTypeIdent:
		return !c.annoEnds[i]
	case tGT:
		return c.closesTypes[i]
	case tRBracket:
		return !c.annoEnds[i]
	default:
		return isBaseType(t)
	}
}

// looksLikeType tells whether the name at i, which nothing declares, stands where only a type can.
func (c *classifier) looksLikeType(i int) bool {
	end := i + 1
	if c.typ(end) == tLT {
		if end = c.typeArgsAt(end); end < 0 {
			return false
		}
	}
	if isNameTok(c.typ(end)) {
		return true // two names in a row, as in T x
	}
	switch c.typ(i - 1) {
	case tSemi, tLBrace, tRBrace:
	default:
		if !c.annoEnds[i-1] {
			return false
		}
	}
	switch c.typ(end) {
	case tLParen: // T(...) x
		k := c.skip(end)
		return k > 0 && isNameTok(c.typ(k))
	case tDot: // T<...>.apply()
		return end > i+1
	case tLBracket: // T[4] x
		k := c.skip(end)
		return k > 0 && isNameTok(c.typ(k))
	}
	return false
}

// paren decides whether the '(' at i opens a cast.
func (c *classifier) paren(i int) {
	prev := c.typ(i - 1)
	strict := false // a cast only if an operand follows
	switch {
	case isNameTok(prev) || prev == tRBracket || prev == grammar.P4LexerTHIS || isBaseType(prev):
		return // a call
	case prev == tIf || prev == grammar.P4LexerSWITCH || prev == grammar.P4LexerFOR || prev == grammar.P4LexerSELECT:
		return
	case prev == tGT:
		if c.closesTypes[i-1] {
			return
		}
		strict = true
	case prev == tRParen:
		if !c.casts[i-1] {
			return
		}
	}
	end := c.typeAt(i + 1)
	if end < 0 || c.typ(end) != tRParen {
		return
	}
	if c.typ(i+1) == tIdent || c.typ(i+1) == tDot {
		k := i + 1
		if c.typ(k) == tDot {
			k++
		}
		if isType, _ := c.lookup(c.textOf(k)); !isType && !(startsOperand(c.typ(end+1)) && c.typ(end+1) != tDot) {
			return // not declared: only what can be nothing else is a cast
		}
	}
	if strict && !startsOperand(c.typ(end+1)) {
		return
	}
	c.toks[i].typ = tCast
	c.casts[end] = true
	c.markTypes(i+1, end)
}

// less decides whether the '<' at i opens type arguments.
func (c *classifier) less(i int) {
	prev := c.typ(i - 1)
	if isBaseType(prev) {
		if end := c.skipWidth(i); end > 0 {
			c.closesTypes[end-1] = true
		}
		return
	}
	end := c.typeArgsAt(i)
	if end < 0 {
		return
	}
	if prev == tTypeIdent || prev == grammar.P4LexerTUPLE || prev == grammar.P4LexerLIST && c.typ(i-2) != tDot || prev == grammar.P4LexerVALUESET {
		c.markTypes(i+1, end)
		return
	}
	if !isNameTok(prev) || c.typ(end) != tLParen {
		return
	}
	// A call with type arguments, unless a name in the list is no known type and the list has several: a < b, c > (d).
	for k := i + 1; k < end; k++ {
		if c.typ(k) == tComma && c.typ(i+1) == tIdent {
			if isType, _ := c.lookup(c.textOf(i + 1)); !isType {
				return
			}
		}
	}
	c.toks[i].typ = tTypeArgs
	c.markTypes(i+1, end)
}
