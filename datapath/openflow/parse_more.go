package openflow

import (
	"fmt"
	"strings"
)

// decTTL reads "dec_ttl" and "dec_ttl(1,2)".
func (p *actionParser) decTTL(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	var ids []uint16
	err = list.each(func(it item) error {
		var id uint16
		err := readDecimal16(it.all, "controller id", &id)
		ids = append(ids, id)
		return err
	})
	if len(ids) == 1 && ids[0] == 0 {
		ids = nil
	}
	return DecTTL{ids}, err
}

func (p *actionParser) multipath(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	var args []text
	if err := list.each(func(it item) error { args = append(args, it.all); return nil }); err != nil {
		return nil, err
	}
	if len(args) != 6 {
		return nil, it.all.faultf("write multipath(FIELDS,BASIS,ALGORITHM,LINKS,ARG,DST)", "multipath takes 6 arguments, not %d", len(args))
	}
	var a Multipath
	var basis, links, arg uint64
	for _, read := range []func() error{
		func() (err error) {
			a.Fields, err = readName[HashFields](args[0], "hash fields", hashFieldNames[:])
			return
		},
		func() (err error) { basis, err = args[1].decimal("multipath basis", 16); return },
		func() (err error) {
			a.Algorithm, err = readName[HashAlgorithm](args[2], "hash algorithm", hashAlgorithmNames[:])
			return
		},
		func() (err error) { links, err = args[3].decimal("number of links", 32); return },
		func() (err error) { arg, err = args[4].decimal("multipath argument", 32); return },
		func() (err error) { a.Dst, err = args[5].subfield(); return },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	a.Basis, a.Links, a.Arg = uint16(basis), uint32(links), uint32(arg)
	return a, nil
}

// readName finds a word among names, in any case.
func readName[T ~uint8](t text, what string, names []string) (T, error) {
	for i, name := range names {
		if strings.EqualFold(name, t.s) {
			return T(i), nil
		}
	}
	return 0, t.fault("unknown "+what, "one of "+strings.Join(names, " "))
}

func (p *actionParser) writeMetadata(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	v, mask, err := value.masked(integerOf(64), integerOf(64), Ones(64))
	if err == nil {
		err = value.checkMasked(Metadata, v, mask, nil)
	}
	return WriteMetadata{v.Lo, mask.Lo}, err
}

// checkPacketLarger reads "check_pkt_larger(1500)->NXM_NX_REG0[0]".
func (p *actionParser) checkPacketLarger(it item) (Action, error) {
	to, ok := strings.CutPrefix(it.rest.s, "->")
	if it.delim != '(' || !ok {
		return nil, it.all.fault("destination is missing", "write check_pkt_larger(LENGTH)->NXM_NX_REG0[0]")
	}
	n, err := it.value.uint(16)
	if err != nil {
		return nil, err
	}
	dst, err := it.rest.from(len(it.rest.s) - len(to)).subfield()
	return CheckPacketLarger{uint16(n), dst}, err
}

func (p *actionParser) finTimeout(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	var a FinTimeout
	args := arguments{of: "fin_timeout"}
	args.add("idle_timeout", func(t text) error { return readUint16(t, &a.Idle) })
	args.add("hard_timeout", func(t text) error { return readUint16(t, &a.Hard) })
	return a, args.read(list)
}

// conjunction reads "conjunction(ID,CLAUSE/CLAUSES)".
func (p *actionParser) conjunction(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	id, clauses, ok := list.cut(",")
	clause, of, ok2 := clauses.cut("/")
	if !ok || !ok2 {
		return nil, it.all.fault("conjunction lacks arguments", "write conjunction(ID,CLAUSE/CLAUSES)")
	}
	n, err := id.decimal("conjunction", 32)
	if err != nil {
		return nil, err
	}
	k, err := clause.decimal("clause", 8)
	if err != nil {
		return nil, err
	}
	total, err := of.decimal("number of clauses", 8)
	return Conjunction{uint32(n), uint8(k), uint8(total)}, err
}

// note reads bytes in hexadecimal and pads them with zeros as OVS does.
func (p *actionParser) note(it item) (Action, error) {
	if it.delim == 0 || it.rest.s != "" {
		return nil, it.all.fault("note needs an argument", "write note:00.01.02")
	}
	var data []byte
	for rest := it.value.s; rest != ""; rest = rest[2:] {
		if rest = strings.TrimPrefix(rest, "."); rest == "" {
			break
		}
		if len(rest) < 2 || hexDigit(rest[0]) < 0 || hexDigit(rest[1]) < 0 {
			return nil, it.value.fault("not bytes in hexadecimal", "write two digits a byte, as 00.01.02")
		}
		data = append(data, byte(hexDigit(rest[0])<<4|hexDigit(rest[1])))
	}
	for len(data)%8 != 6 {
		data = append(data, 0)
	}
	if len(data) > maxNote {
		return nil, it.value.fault("note is too long", fmt.Sprintf("at most %d bytes", maxNote))
	}
	return Note{string(data)}, nil
}

// maxNote is what fits in an OpenFlow action of 64 KiB.
const maxNote = 65518
