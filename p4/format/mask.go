package format

import "strings"

// region is a part of the text that is kept as it is: a preprocessor line, or a branch of an #if that is not looked at. It
// starts at the start of a line and ends in front of the end of one.
type region struct{ start, end int }

// mask returns the text with its preprocessor lines blanked, so that offsets stay the same, and where they are. With onlyFirst
// it blanks all branches of an #if but the first one too.
func mask(text string, onlyFirst bool) (string, []region) {
	out := []byte(text)
	var regions []region
	add := func(start, end int) {
		if n := len(regions); n > 0 && strings.TrimSpace(text[regions[n-1].end:start]) == "" && onlyFirst && blanked(out, regions[n-1].end, start) {
			regions[n-1].end = end // a branch that is left out goes on
		} else {
			regions = append(regions, region{start, end})
		}
		for i := start; i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	var skip []bool // for each open #if: in a branch that is left out
	skipping := func() bool {
		for _, s := range skip {
			if s {
				return true
			}
		}
		return false
	}
	skipFrom := -1
	for i := 0; i < len(text); {
		lineStart := i
		k := i
		for k < len(text) && (text[k] == ' ' || text[k] == '\t') {
			k++
		}
		if k < len(text) && text[k] == '#' {
			end := logicalEnd(text, k)
			was := skipping()
			switch directiveName(text[k+1 : end]) {
			case "if", "ifdef", "ifndef":
				skip = append(skip, false)
			case "else", "elif":
				if n := len(skip); n > 0 && onlyFirst {
					skip[n-1] = true
				}
			case "endif":
				if n := len(skip); n > 0 {
					skip = skip[:n-1]
				}
			}
			switch now := skipping(); {
			case !was && now:
				skipFrom = lineStart
			case was && !now:
				add(skipFrom, end)
				skipFrom = -1
			case !was:
				add(lineStart, end)
			}
			i = end
		} else if skipFrom >= 0 {
			if e := strings.IndexByte(text[i:], '\n'); e >= 0 {
				i += e
			} else {
				i = len(text)
			}
		} else {
			i = codeEnd(text, i)
		}
		if i < len(text) {
			i++ // the line end
		}
	}
	if skipFrom >= 0 {
		add(skipFrom, len(strings.TrimRight(text, "\n")))
	}
	return string(out), regions
}

// blanked tells whether nothing but white space stands in out[from:to], and no empty line.
func blanked(out []byte, from, to int) bool {
	return strings.TrimSpace(string(out[from:to])) == "" && strings.Count(string(out[from:to]), "\n") < 2
}

// codeEnd returns the index of the end of the line of code at i. A block comment or a string may hold line ends.
func codeEnd(text string, i int) int {
	for i < len(text) && text[i] != '\n' {
		switch {
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case strings.HasPrefix(text[i:], "/*"):
			e := strings.Index(text[i+2:], "*/")
			if e < 0 {
				return len(text)
			}
			i += e + 4
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
		default:
			i++
		}
	}
	return min(i, len(text))
}

// logicalEnd returns the index of the end of a preprocessor line: one that ends in a backslash goes on.
func logicalEnd(text string, i int) int {
	for i < len(text) {
		switch {
		case text[i] == '\n':
			return i
		case strings.HasPrefix(text[i:], "/*"):
			e := strings.Index(text[i+2:], "*/")
			if e < 0 {
				return len(text)
			}
			i += e + 4
		case strings.HasPrefix(text[i:], "\\\n"):
			i += 2
		case strings.HasPrefix(text[i:], "\\\r\n"):
			i += 3
		default:
			i++
		}
	}
	return len(text)
}

func directiveName(s string) string {
	s = strings.TrimLeft(s, " \t")
	n := 0
	for n < len(s) && s[n] >= 'a' && s[n] <= 'z' {
		n++
	}
	return s[:n]
}
