package pcap_test

import (
	"encoding/binary"
	"math/big"
)

// The slow twin of the reader: it has the whole file in memory, slices it up front to
// back, does time in big integers, and gives up without a word. clean says whether the
// file ended as it should.
func slowRead(file []byte) (frames []frame, clean bool) {
	if len(file) < 4 {
		return nil, false
	}
	if binary.BigEndian.Uint32(file) == 0x0a0d0d0a {
		return slowNG(file)
	}
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		switch magic := o.Uint32(file); magic {
		case micro, nano, modified:
			return slowClassic(o, magic, file)
		}
	}
	return nil, false
}

func slowClassic(o order, magic uint32, file []byte) (frames []frame, clean bool) {
	if len(file) < 24 || o.Uint16(file[4:]) != 2 || o.Uint32(file[20:])&0x3ffffff != 1 {
		return nil, false
	}
	header, tick := 16, int64(1000)
	if magic == modified {
		header = 24
	}
	if magic == nano {
		tick = 1
	}
	for at := 24; at < len(file); {
		if len(file)-at < header {
			return frames, false
		}
		size := int64(o.Uint32(file[at+8:]))
		if size > 262144 || int64(len(file)-at-header) < size {
			return frames, false
		}
		ns := int64(o.Uint32(file[at:]))*1e9 + int64(o.Uint32(file[at+4:]))*tick
		data := file[at+header : at+header+int(size)]
		frames = append(frames, frame{ns, string(data), wire(o.Uint32(file[at+12:]), len(data)), len(frames) + 1, int64(at)})
		at += header + int(size)
	}
	return frames, true
}

// wire is the original length: never below what was captured, never above 2^31-1.
func wire(orig uint32, captured int) int {
	return int(min(max(int64(orig), int64(captured)), 1<<31-1))
}

type slowPort struct {
	link   uint16
	snap   uint32
	unit   *big.Int
	offset int64
}

func slowNG(file []byte) (frames []frame, clean bool) {
	var o order = binary.LittleEndian
	var ports []slowPort
	last, index, foreign := int64(0), 0, false
	for at := 0; at < len(file); {
		b := file[at:]
		if len(b) < 12 {
			return frames, false
		}
		kind := o.Uint32(b)
		if kind == 0x0a0d0d0a {
			switch uint32(0x1a2b3c4d) {
			case binary.LittleEndian.Uint32(b[8:]):
				o = binary.LittleEndian
			case binary.BigEndian.Uint32(b[8:]):
				o = binary.BigEndian
			default:
				return frames, false
			}
			if len(b) < 28 || o.Uint16(b[12:]) != 1 {
				return frames, false
			}
			ports = nil
		}
		total := int64(o.Uint32(b[4:]))
		least := map[uint32]int64{0x0a0d0d0a: 28, 1: 20, 2: 32, 3: 16, 6: 32}[kind]
		if total%4 != 0 || total < max(least, 12) {
			return frames, false
		}
		if kind == 1 {
			p, ok := slowInterface(o, b, total)
			if !ok || len(ports) == 65536 {
				return frames, false
			}
			ports = append(ports, p)
		}
		if kind == 2 || kind == 3 || kind == 6 {
			if int64(len(b)) < least-4 {
				return frames, false
			}
			id, head := uint32(0), 12
			if kind == 6 {
				id, head = o.Uint32(b[8:]), 28
			}
			if kind == 2 {
				id, head = uint32(o.Uint16(b[8:])), 28
			}
			if int64(id) >= int64(len(ports)) {
				return frames, false
			}
			p := ports[id]
			size, orig := int64(0), uint32(0)
			ns := last
			ok := true
			if kind == 3 {
				orig = o.Uint32(b[8:])
				size = min(int64(orig), total-16)
				if p.snap > 0 {
					size = min(size, int64(p.snap))
				}
			} else {
				size, orig = int64(o.Uint32(b[20:])), o.Uint32(b[24:])
				ns, ok = p.time(uint64(o.Uint32(b[12:]))<<32 + uint64(o.Uint32(b[16:])))
			}
			if size > 262144 || size > total-int64(head)-4 {
				return frames, false
			}
			index++
			if p.link != 1 {
				foreign = true
			} else {
				if !ok || int64(len(b)) < int64(head)+size {
					return frames, false
				}
				last = ns
				frames = append(frames, frame{ns, string(b[head : head+int(size)]), wire(orig, int(size)), index, int64(at)})
			}
		}
		if int64(len(b)) < total || int64(o.Uint32(b[total-4:])) != total {
			return frames, false
		}
		at += int(total)
	}
	return frames, !foreign
}

func slowInterface(o order, b []byte, total int64) (slowPort, bool) {
	if total > 262144 || int64(len(b)) < total {
		return slowPort{}, false
	}
	p := slowPort{o.Uint16(b[8:]), o.Uint32(b[12:]), big.NewInt(1e6), 0}
	for opts := b[16 : total-4]; len(opts) >= 4; {
		code, size := o.Uint16(opts), int(o.Uint16(opts[2:]))
		if code == 0 {
			break
		}
		if 4+size > len(opts) {
			return p, false
		}
		value := opts[4 : 4+size]
		switch {
		case code == 9 && size == 1 && value[0] >= 0x80:
			p.unit = new(big.Int).Lsh(big.NewInt(1), uint(value[0]-0x80))
		case code == 9 && size == 1:
			p.unit = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(value[0])), nil)
		case code == 14 && size == 8:
			p.offset = int64(o.Uint64(value))
		case code == 9 || code == 14:
			return p, false
		}
		if !p.unit.IsUint64() || p.offset > 9223372035 || p.offset < -9223372035 {
			return p, false
		}
		opts = opts[min(4+(size+3)/4*4, len(opts)):]
	}
	return p, true
}

func (p slowPort) time(ticks uint64) (int64, bool) {
	whole, part := new(big.Int).DivMod(new(big.Int).SetUint64(ticks), p.unit, new(big.Int))
	sec := new(big.Int).Add(whole, big.NewInt(p.offset))
	if sec.CmpAbs(big.NewInt(9223372035)) > 0 {
		return 0, false
	}
	part.Mul(part, big.NewInt(1e9)).Div(part, p.unit)
	return sec.Int64()*1e9 + part.Int64(), true
}
