package types

import (
	"khop/p4/ast"
)

// callPlace reports a call where it may not stand (specification appendix F). Parsers and controls: see callPlaceBlock.
func (c *checker) callPlace(n ast.Node, call *Call) {
	p := c.ctx.place
	if c.ctx.label && call.Kind != CallConstructor {
		c.err(n, CodeCallPlace, "nothing can be called in a label").hint("call it before, and compare its result")
		return
	}
	switch call.Kind {
	case CallTable:
		switch {
		case c.ctx.inArgs:
			c.err(n, CodeCallPlace, "a table cannot be applied in the arguments of an action")
		case p != inApply && !c.ctx.inKey:
			c.err(n, CodeCallPlace, "a table cannot be applied %s", p).
				hint("apply it in the apply block of a control")
		}
	case CallAction:
		if p != inApply && p != inAction {
			c.err(n, CodeCallPlace, "an action cannot be called %s", p).
				hint("call it in the apply block of a control or in another action")
		}
	case CallFunc:
		if p == atTop {
			c.err(n, CodeCallPlace, "a function cannot be called at top level")
		}
	case CallExternFunc, CallMethod:
		if call.Kind == CallExternFunc && call.Func.name == "verify" && c.inControl() && c.system(call.Func) {
			c.err(n, CodeCallPlace, "verify can only be called in a parser")
			return
		}
		if p == atTop && call.Func.name != "static_assert" && !isObjectType(call.Func.Sig.Result) {
			c.err(n, CodeCallPlace, "%s cannot be called at top level", describe(call.Func))
		}
	}
}

// inControl tells whether the checker is in the body of a control.
func (c *checker) inControl() bool { return c.ctx.block != nil && c.ctx.block.Kind == ControlBlock }

// callPlaceBlock reports apply of a parser or control where it may not stand.
func (c *checker) callPlaceBlock(n ast.Node, b *Block) {
	p := c.ctx.place
	switch b.Kind {
	case ParserBlock:
		if p != inState {
			c.err(n, CodeCallPlace, "a parser cannot be applied %s", p).hint("apply it in a state of another parser")
		}
	case ControlBlock:
		if p != inApply {
			c.err(n, CodeCallPlace, "a control cannot be applied %s", p).hint("apply it in the apply block of another control")
		}
	}
}

// constructorPlace reports a constructor call as an expression where no object can be made.
func (c *checker) constructorPlace(n ast.Node, t Type) {
	if c.ctx.inCtor {
		return
	}
	if _, ok := t.(*Extern); ok {
		return // made once, at compile time, for the call of a method
	}
	switch c.ctx.place {
	case inApply, inState, inAction, inFunction, inMethod:
		c.err(n, CodeInstance, "an object of type %s cannot be constructed %s", t, c.ctx.place).
			hint("instantiate it among the local declarations: %s(...) name;", t)
	}
}
