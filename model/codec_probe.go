package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxPayload = 1024 // bytes of a UDP probe and of the reply it expects
	maxTarget  = 2048 // bytes of a request target
)

// target is an HTTP request target in origin form (RFC 9112, section 3.2.1).
func target() codec[string] {
	return text("request target", func(s string) *complaint {
		if len(s) > maxTarget || !targetForm.MatchString(s) {
			return complain("begin with / and percent-encode spaces and what is not ASCII", "%q is not a request target", s)
		}
		return nil
	})
}

// hostHeader is the value of an HTTP Host header: a name or address, perhaps with a port.
func hostHeader() codec[string] {
	return text("host", func(s string) *complaint {
		if !hostForm.MatchString(s) {
			return complain("write a host name, perhaps with a port, as web.example:8080", "%q is not a host", s)
		}
		return nil
	})
}

var (
	targetForm = regexp.MustCompile(`^/[!-"$-~]*$`)
	hostForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}(:[0-9]{1,5})?$`)
	statusForm = regexp.MustCompile(`^([1-5][0-9][0-9])(?: *- *([1-5][0-9][0-9]))?$`)
)

// statusRange is one HTTP status code or a range of them.
func statusRange() codec[StatusRange] {
	return codec[StatusRange]{
		kind:  "status or range of statuses",
		blank: true,
		read: func(s scalar) (StatusRange, *complaint) {
			found := statusForm.FindStringSubmatch(s.text)
			if found == nil {
				return StatusRange{}, complain("write 200 or 200-299, from 100 to 599", "%q is no range of statuses", s.text)
			}
			from, _ := strconv.Atoi(found[1])
			to := from
			if found[2] != "" {
				to, _ = strconv.Atoi(found[2])
			}
			return StatusRange{from, to}, nil
		},
		check: func(r StatusRange) *complaint {
			switch {
			case r.From < 100 || r.To > 599:
				return complain("use 100 to 599", "%s is out of range", r)
			case r.From > r.To:
				return complain(fmt.Sprintf("write %d-%d", r.To, r.From), "%s is empty", r)
			}
			return nil
		},
		write: StatusRange.String,
	}
}

// String returns 200 or 200-299.
func (r StatusRange) String() string {
	if r.From == r.To {
		return strconv.Itoa(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

// Contains reports whether the status lies in the range.
func (r StatusRange) Contains(status int) bool { return r.From <= status && status <= r.To }

// payload is a string of bytes. In YAML it is ASCII text in which \xHH stands for a byte and \\ for a backslash.
func payload() codec[string] {
	c := text("text with \\xHH for bytes", func(s string) *complaint {
		if len(s) > maxPayload {
			return complain(fmt.Sprintf("use at most %d", maxPayload), "has %d bytes", len(s))
		}
		return nil
	})
	readText := c.read
	c.read = func(s scalar) (string, *complaint) {
		raw, wrong := readText(s)
		if wrong != nil {
			return "", wrong
		}
		return unescape(raw)
	}
	c.write = func(s string) string { return singleQuoted(escape(s)) }
	return c
}

func escape(raw string) string {
	var b strings.Builder
	for _, c := range []byte(raw) {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unescape(s string) (string, *complaint) {
	var b strings.Builder
	for len(s) > 0 {
		c, rest := s[0], s[1:]
		switch {
		case c > '~':
			return "", complain(`write bytes beyond ASCII as \xHH, in single quotes`, "has a character beyond ASCII")
		case c == '\\' && strings.HasPrefix(rest, `\`):
			rest = rest[1:]
		case c == '\\':
			v, err := byteOf(rest)
			if err != nil {
				return "", complain(`use \xHH for a byte and \\ for a backslash, in single quotes`, "has an unknown escape")
			}
			c, rest = v, rest[3:]
		}
		b.WriteByte(c)
		s = rest
	}
	return b.String(), nil
}

// byteOf reads xHH.
func byteOf(s string) (byte, error) {
	if len(s) < 3 || s[0] != 'x' {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseUint(s[1:3], 16, 8)
	return byte(v), err
}
