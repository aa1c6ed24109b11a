package types

// Substitute returns t with the type variables params replaced by args.
func Substitute(params []*TypeParam, args []Type, t Type) Type {
	return newSubst(params, args).apply(t)
}
