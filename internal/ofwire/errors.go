package ofwire

import "fmt"

// UnsupportedError names something that cannot be encoded, or that was not understood.
type UnsupportedError struct {
	Token   string // the action or condition in canonical form, or where in the bytes it was
	Problem string
}

// Error is, for example, `"vlan_tci=0x2000/0x2000": a priority needs a tag`.
func (e *UnsupportedError) Error() string { return fmt.Sprintf("%q: %s", e.Token, e.Problem) }

func unsupported(token fmt.Stringer, problem string) error {
	return &UnsupportedError{token.String(), problem}
}

// foreign is something in the bytes that the words have no name for.
func foreign(problem string, args ...any) error {
	return &UnsupportedError{"message", fmt.Sprintf(problem, args...)}
}
