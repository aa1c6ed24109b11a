package fabric

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// unit is a unit's name and how many base units (nanoseconds, bits a second, bytes) it stands for.
type unit struct {
	name  string
	scale uint64
}

// The units that the spec knows, largest first.
var (
	durationUnits = []unit{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}}
	rateUnits     = []unit{{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"kbps", 1e3}, {"bps", 1}}
	sizeUnits     = []unit{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
)

// unitNames lists the units' names for a message.
func unitNames(units []unit) string {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.name
	}
	return strings.Join(names, ", ")
}

// unitString prints a quantity in the largest decimal unit that divides it.
func unitString(v uint64, units []unit) string {
	for _, u := range units {
		if v != 0 && v%u.scale == 0 && u.scale%1024 != 0 {
			return fmt.Sprintf("%d%s", v/u.scale, u.name)
		}
	}
	return fmt.Sprintf("%d%s", v, units[len(units)-1].name)
}

// parseQuantity reads a decimal number with a unit ("1.5ms"), exactly: a value that is no whole number of base units is an error.
func parseQuantity(text string, units []unit, example string) (uint64, error) {
	digits := 0
	for digits < len(text) && (text[digits] >= '0' && text[digits] <= '9' || text[digits] == '.') {
		digits++
	}
	number, name := text[:digits], strings.TrimSpace(text[digits:])
	if number == "" || strings.HasPrefix(number, ".") || strings.HasSuffix(number, ".") || len(number) > 24 {
		return 0, fmt.Errorf("%q is no number with a unit, such as %s", text, example)
	}
	if name == "" {
		return 0, fmt.Errorf("%q lacks a unit: one of %s", text, unitNames(units))
	}
	for _, u := range units {
		if u.name != name {
			continue
		}
		v, ok := new(big.Rat).SetString(number)
		if !ok {
			return 0, fmt.Errorf("%q is no number with a unit, such as %s", text, example)
		}
		v.Mul(v, new(big.Rat).SetInt(new(big.Int).SetUint64(u.scale)))
		if !v.IsInt() || !v.Num().IsUint64() {
			return 0, fmt.Errorf("%q is out of range or too fine", text)
		}
		return v.Num().Uint64(), nil
	}
	return 0, fmt.Errorf("%q has the unknown unit %q: the units are %s", text, name, unitNames(units))
}

// ParseDuration reads a time such as "500us". It must be a whole number of microseconds, at most 1 hour.
func ParseDuration(text string) (time.Duration, error) {
	v, err := parseQuantity(text, durationUnits, "500us")
	if err != nil {
		return 0, err
	}
	if v%1000 != 0 {
		return 0, fmt.Errorf("%q is no whole number of microseconds, the resolution of a switch's clock", text)
	}
	if v > uint64(time.Hour) {
		return 0, fmt.Errorf("%q is longer than an hour", text)
	}
	return time.Duration(v), nil
}

// ParseRate reads a link rate such as "10Gbps", at most 1Tbps.
func ParseRate(text string) (BitRate, error) {
	v, err := parseQuantity(text, rateUnits, "10Gbps")
	if err != nil {
		return 0, err
	}
	if v == 0 || v > 1e12 {
		return 0, fmt.Errorf("%q is out of range: a link has 1bps to 1Tbps", text)
	}
	return BitRate(v), nil
}

// ParseSize reads a size such as "6KB" (6000 bytes) or "6KiB" (6144 bytes), at most 1GB.
func ParseSize(text string) (Size, error) {
	v, err := parseQuantity(text, sizeUnits, "6KB")
	if err != nil {
		return 0, err
	}
	if v > 1e9 {
		return 0, fmt.Errorf("%q is more than 1GB", text)
	}
	return Size(v), nil
}
