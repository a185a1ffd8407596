// Package openflow is the vocabulary of an OpenFlow switch as Open vSwitch speaks
// it: fields, matches, actions, flows, flow modifications, bundles and programs.
//
// It holds words, not deeds: there is no I/O here, nothing runs and nothing is
// global. Every valid value can print itself in the syntax of ovs-ofctl and be read back:
// ParseFlow, ParseFlowEntry, ParseFlowMod, ParseBundle, ParseProgram, ParseMatch and
// ParseActions of what a value prints make that value again. The printed form is canonical.
// It is the one that "ovs-ofctl -O OpenFlow15 dump-flows" uses, so that two programs can be
// compared as text. Three exceptions are forced by ovs-ofctl, which cannot read all of its own
// dumps: part of a field without masks is set by load, IPv6 masks that start with zeros are
// written with "::" in front, and a flow always shows its table and priority.
//
// One meaning has one value. load:5->NXM_NX_REG0[] and set_field:5->reg0 are the same
// SetField; mod_nw_dst:A is SetField on IPDst; dl_vlan=5 is a masked match on
// VLANTCI; xreg0 is a pair of 32-bit registers. That is what makes Diff a plain comparison.
//
// Three actions have no equal in OpenFlow 1.5: OVS stores Enqueue as SetQueue, Output and
// PopQueue, and SetVLANVID and SetVLANPCP as PushVLAN and SetField. A program that is to be
// compared with a switch should say the latter.
//
// The parser never widens. Where ovs-ofctl quietly drops a condition or a value
// (ip,tp_dst=80 matches all IP; load:1.2.3.4->... loads 1) it refuses, and says which
// token, where, and what to write instead.
//
// Sources: ovs-fields(7), ovs-actions(7), ovs-ofctl(8), OpenFlow Switch Specification 1.5.
package openflow
