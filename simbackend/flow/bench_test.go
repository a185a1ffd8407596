package flow

import (
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

// sample is a TCP segment of 74 bytes and, if tagged, its VLAN tag.
func sample(tagged bool) []byte {
	f := []byte("\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01")
	if tagged {
		f = append(f, 0x81, 0, 0x20, 5)
	}
	f = append(f, "\x08\x00\x45\x00\x00\x3c\x00\x01\x40\x00\x40\x06\x26\xba\x0a\x00\x00\x01\x0a\x00\x00\x02"+
		"\x03\xe8\x00\x50\x00\x00\x00\x01\x00\x00\x00\x02\xa0\x02\xff\xff\x12\x34\x00\x00"+
		"\x02\x04\x05\xb4\x04\x02\x08\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x01\x03\x03\x07"...)
	return f
}

// translation is what a load balancer does to a frame on its way in.
func translation(k *Key) {
	k.Set(of.EthDst, of.U64(0x0242c0a80514))
	k.Set(of.EthSrc, of.U64(0x0242c0a80501))
	k.Set(of.IPDst, of.U64(0x0a1e0002))
	k.Set(of.TCPDst, of.U64(8080))
	k.Set(of.IPTTL, of.U64(63))
}

func TestNothingAllocates(t *testing.T) {
	f := sample(true)
	var k, base, want Key
	var p Packet
	l, _ := Extract(f, 1, &k)
	p.Load(f, l)
	want = k
	translation(&want)
	m := of.Multipath{Fields: of.HashSymmetricL4, Links: 1024}
	tags := k
	tags.PushVLAN(of.EthTypeQinQ)
	untagged := k
	untagged.PopVLAN()
	store := NewStore(of.Set(of.XXReg0, of.U64(1)))
	for name, do := range map[string]func(){
		"Extract":   func() { Extract(f, 1, &k) },
		"Refresh":   func() { Refresh(f, &k) },
		"Load":      func() { p.Load(f, l) },
		"Rewrite":   func() { base = k; p.Load(f, l); p.Rewrite(&base, &want, nil) },
		"push":      func() { base = k; p.Load(f, l); p.Rewrite(&base, &tags, nil) },
		"pop":       func() { base = k; p.Load(f, l); p.Rewrite(&base, &untagged, nil) },
		"Multipath": func() { Multipath(&k, &m) },
		"Get":       func() { k.GetSub(of.Subfield{Field: of.XXReg1, Offset: 60, Width: 20}) },
		"Set":       func() { k.SetSub(of.Subfield{Field: of.XXReg1, Offset: 60, Width: 20}, of.U64(7)) },
		"Apply":     func() { store.Apply(&k) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, do), name)
	}
}

func BenchmarkExtract(b *testing.B) {
	var k Key
	for name, f := range map[string][]byte{"untagged": sample(false), "tagged": sample(true)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Extract(f, 1, &k)
			}
		})
	}
}

func BenchmarkRefresh(b *testing.B) {
	f := sample(false)
	var k Key
	for b.Loop() {
		Refresh(f, &k)
	}
}

func BenchmarkRewrite(b *testing.B) {
	f := sample(false)
	var k, base Key
	l, _ := Extract(f, 1, &k)
	var p Packet
	translated, tagged := k, k
	translation(&translated)
	tagged.SetVLANVID(5)
	for name, want := range map[string]*Key{"nothing": &k, "translation": &translated, "push": &tagged} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				base = k
				p.Load(f, l)
				p.Rewrite(&base, want, nil)
			}
		})
	}
}

func BenchmarkMultipath(b *testing.B) {
	k := tcpKey()
	for name, m := range map[string]of.Multipath{
		"symmetric_l4":   {Fields: of.HashSymmetricL4, Links: 1024},
		"symmetric_l3l4": {Fields: of.HashSymmetricL3L4, Links: 1024},
		"nw_src":         {Fields: of.HashNwSrc, Links: 1024},
		"hrw of 16":      {Fields: of.HashNwSrc, Links: 16, Algorithm: of.HRW},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Multipath(&k, &m)
			}
		})
	}
}

func BenchmarkStore(b *testing.B) {
	var k Key
	s := NewStore(of.Set(of.IPDst, of.U64(1)))
	for b.Loop() {
		if Present(&k, of.IPDst) {
			s.Apply(&k)
		}
	}
}

func BenchmarkSubfield(b *testing.B) {
	var k Key
	src, dst := of.Whole(of.EthSrc), of.Subfield{Field: of.XXReg1, Width: 48}
	for b.Loop() {
		k.SetSub(dst, k.GetSub(src))
	}
}

func BenchmarkRef(b *testing.B) {
	var k Key
	src, dst := NewRef(of.Whole(of.EthSrc)), NewRef(of.Subfield{Field: of.XXReg1, Width: 48})
	for b.Loop() {
		dst.Set(&k, src.Get(&k))
	}
}
