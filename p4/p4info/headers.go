package p4info

import (
	"math/big"

	p4configv1 "github.com/p4lang/p4runtime/go/p4/config/v1"

	"khop/p4/ast"
	"khop/p4/diag"
	"khop/p4/ir"
	"khop/p4/types"
)

func annosOf(d ast.Decl) []*ast.Annotation {
	if h, ok := d.(*ast.HeaderDecl); ok {
		return h.Annos
	}
	return nil
}

// controllerHeaders returns the headers of packets from and to the controller, in order of declaration.
func (b *builder) controllerHeaders() []*types.Struct {
	var out []*types.Struct
	for _, o := range b.p.Info.Globals {
		tn, ok := o.(*types.TypeName)
		if !ok || tn.Alias {
			continue
		}
		s, ok := tn.Type().(*types.Struct)
		if ok && s.Kind == types.StructHeader && find(annosOf(s.Decl), "controller_header") != nil {
			out = append(out, s)
		}
	}
	return out
}

func (b *builder) controllerHeader(h *types.Struct) {
	annos := annosOf(h.Decl)
	if hidden(annos) {
		return
	}
	name := text(find(annos, "controller_header"))
	pre := b.preamble(prefixControllerHeader, h.Name, annos)
	pre.Name, pre.Alias = name, name
	out := &p4configv1.ControllerPacketMetadata{Preamble: pre}
	var fields []headerField
	var fa [][]*ast.Annotation
	flattenHeader(h, "", nil, func(f headerField) {
		fields = append(fields, f)
		fa = append(fa, f.annos)
	})
	ids := fieldIDs(fa)
	for i, f := range fields {
		if hidden(f.annos) {
			continue
		}
		m := &p4configv1.ControllerPacketMetadata_Metadata{Id: ids[i], Name: f.name, Bitwidth: int32(width(f.typ)), TypeName: namedType(f.typ)}
		m.Annotations, _ = annotations(f.annos)
		b.info()
		b.typeSpec(f.typ)
		out.Metadata = append(out.Metadata, m)
	}
	b.out.ControllerPacketMetadata = append(b.out.ControllerPacketMetadata, out)
}

func (b *builder) pkgInfo() {
	out := &p4configv1.PkgInfo{Arch: "v1model"}
	b.out.PkgInfo = out
	if b.p.Info.Main == nil {
		return
	}
	annos := b.p.Info.Main.Annos()
	var rest []*ast.Annotation
	for _, a := range annos {
		switch a.Name.Name {
		case "pkginfo":
			b.pkgKeys(out, a)
		case "platform_property":
			b.platform(out, a)
		default:
			rest = append(rest, a)
		}
	}
	out.Annotations, out.StructuredAnnotations = annotations(rest)
	out.Doc = doc(rest)
}

// keyValues returns the body of an annotation of the form @name(key=value, ...) or @name[key=value, ...].
func keyValues(a *ast.Annotation) (keys []string, vals []string) {
	if a.Structured {
		for _, kv := range a.KVs {
			keys = append(keys, kv.Name.Name)
			switch v := kv.Value.(type) {
			case *ast.StringLit:
				vals = append(vals, v.Value)
			default:
				s := ""
				if n := intLiteral(v); n != nil {
					s = n.String()
				}
				vals = append(vals, s)
			}
		}
		return
	}
	for i := 0; i+2 < len(a.Tokens); i += 4 {
		keys = append(keys, a.Tokens[i].Text)
		vals = append(vals, ir.Unquote(a.Tokens[i+2].Text))
	}
	return
}

func (b *builder) pkgKeys(out *p4configv1.PkgInfo, a *ast.Annotation) {
	keys, vals := keyValues(a)
	for i, k := range keys {
		switch k {
		case "name":
			out.Name = vals[i]
		case "version":
			out.Version = vals[i]
		case "organization":
			out.Organization = vals[i]
		case "contact":
			out.Contact = vals[i]
		case "url":
			out.Url = vals[i]
		case "arch":
			out.Arch = vals[i]
			b.report(diag.Warning, a, "bad-annotation", "the compiler sets arch of @pkginfo")
		default:
			b.report(diag.Warning, a, "bad-annotation", "@pkginfo has no key %s (name, version, organization, contact, url)", k)
		}
	}
}

func (b *builder) platform(out *p4configv1.PkgInfo, a *ast.Annotation) {
	keys, vals := keyValues(a)
	out.PlatformProperties = &p4configv1.PlatformProperties{}
	for i, k := range keys {
		v, ok := new(big.Int).SetString(vals[i], 0)
		if !ok || !v.IsInt64() {
			b.errorf(a, "bad-annotation", "%s of @platform_property must be an integer", k)
			continue
		}
		n := int32(v.Int64())
		switch k {
		case "multicast_group_table_size":
			out.PlatformProperties.MulticastGroupTableSize = n
		case "multicast_group_table_total_replicas":
			out.PlatformProperties.MulticastGroupTableTotalReplicas = n
		case "multicast_group_table_max_replicas_per_entry":
			out.PlatformProperties.MulticastGroupTableMaxReplicasPerEntry = n
		default:
			b.report(diag.Warning, a, "bad-annotation", "@platform_property has no key %s", k)
		}
	}
}
