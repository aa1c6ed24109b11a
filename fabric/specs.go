package fabric

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed specs/*.yaml
var specFiles embed.FS

// ShippedNames returns the names of the shipped specs (without ".yaml"), sorted.
func ShippedNames() []string {
	entries, err := specFiles.ReadDir("specs")
	if err != nil {
		return nil // the directory is embedded, so it is always there
	}
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.Sort(list) // file names sort otherwise: "-" comes before "."
	return list
}

// Shipped returns the text of a shipped spec by its name, with or without ".yaml" and with or without "fabric/specs/" before it.
func Shipped(name string) ([]byte, bool) {
	name = strings.TrimPrefix(name, "fabric/specs/")
	if path.Base(name) != name {
		return nil, false
	}
	data, err := specFiles.ReadFile("specs/" + strings.TrimSuffix(name, ".yaml") + ".yaml")
	return data, err == nil
}
