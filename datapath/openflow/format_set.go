package openflow

import "strconv"

// append writes set_field where ovs-ofctl takes the mask, load where it takes none.
func (a SetField) append(b []byte) []byte {
	if a.Mask != a.Field.Mask() && a.Field.info().mask == maskNone {
		if s, ok := a.subfield(); ok {
			return s.append(append(appendHexValue(append(b, "load:"...), a.Value.Shr(int(s.Offset))), "->"...))
		}
	}
	b = append(b, "set_field:"...)
	switch {
	case a.Field == VLANVID:
		b = a.appendVID(b)
	default:
		b = a.Field.appendSet(b, a.Value, a.Mask)
	}
	return append(append(b, "->"...), a.Field.String()...)
}

// appendVID writes a VLAN id with the bit that says a tag is there, which vlan_vid demands.
func (a SetField) appendVID(b []byte) []byte {
	b = strconv.AppendUint(b, a.Value.Lo|VLANPresent, 10)
	if a.Mask == a.Field.Mask() {
		return b
	}
	return appendHex(append(b, '/'), a.Mask.Or(U64(VLANPresent)), 1)
}

// subfield is the run of bits that the action writes, if it is one run.
func (a SetField) subfield() (Subfield, bool) { return maskSubfield(a.Field, a.Mask) }

// maskSubfield is the run of ones of a mask, if it is one run.
func maskSubfield(f Field, mask Value) (Subfield, bool) {
	if mask.IsZero() {
		return Subfield{}, false
	}
	offset := 0
	for mask.Shr(offset).Lo&1 == 0 {
		offset++
	}
	width := mask.BitLen() - offset
	return Subfield{f, uint8(offset), uint8(width)}, mask.Shr(offset) == Ones(width)
}

func (a Move) append(b []byte) []byte {
	b = a.Src.append(append(b, "move:"...))
	return a.Dst.append(append(b, "->"...))
}

var hashFieldNames = [...]string{
	HashEthSrc: "eth_src", HashSymmetricL4: "symmetric_l4", HashSymmetricL3L4: "symmetric_l3l4",
	HashSymmetricL3L4UDP: "symmetric_l3l4+udp", HashNwSrc: "nw_src", HashNwDst: "nw_dst", HashSymmetricL3: "symmetric_l3",
}

// String is the name that multipath uses, such as "symmetric_l4".
func (h HashFields) String() string {
	if int(h) < len(hashFieldNames) {
		return hashFieldNames[h]
	}
	return "unknown"
}

var hashAlgorithmNames = [...]string{ModuloN: "modulo_n", HashThreshold: "hash_threshold", HRW: "hrw", IterHash: "iter_hash"}

// String is the name that multipath uses, such as "modulo_n".
func (h HashAlgorithm) String() string {
	if int(h) < len(hashAlgorithmNames) {
		return hashAlgorithmNames[h]
	}
	return "unknown"
}

func (a Multipath) append(b []byte) []byte {
	b = append(append(b, "multipath("...), a.Fields.String()...)
	b = append(append(appendUint(b, ",", a.Basis), ','), a.Algorithm.String()...)
	b = appendUint(appendUint(b, ",", a.Links), ",", a.Arg)
	return append(a.Dst.append(append(b, ',')), ')')
}
