package openflow

// String is the action as a dump shows it: "output:2".
func (a Output) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "output:NXM_NX_REG0[0..15]".
func (a OutputField) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "CONTROLLER:128".
func (a Controller) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "resubmit(,5)".
func (a Resubmit) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "goto_table:5".
func (a GotoTable) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "set_field:10.0.0.1->ip_dst".
func (a SetField) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]".
func (a Move) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "push:NXM_NX_REG0[]".
func (a Push) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "pop:NXM_NX_REG0[]".
func (a Pop) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "mod_vlan_vid:5".
func (a SetVLANVID) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "mod_vlan_pcp:3".
func (a SetVLANPCP) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "push_vlan:0x8100".
func (a PushVLAN) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "pop_vlan".
func (a PopVLAN) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "dec_ttl(1,2)".
func (a DecTTL) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "multipath(symmetric_l4,1,modulo_n,1024,0,NXM_NX_REG1[])".
func (a Multipath) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "ct(commit,table=3,zone=5,nat(dst=10.0.0.1:80))".
func (a CT) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "ct_clear".
func (a CTClear) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "learn(table=1,hard_timeout=300,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])".
func (a Learn) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "write_metadata:0x5/0xff".
func (a WriteMetadata) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "write_actions(output:3)".
func (a WriteActions) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "clear_actions".
func (a ClearActions) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "clone(output:2)".
func (a Clone) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "check_pkt_larger(1500)->NXM_NX_REG0[0]".
func (a CheckPacketLarger) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "fin_timeout(idle_timeout=5)".
func (a FinTimeout) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "group:1".
func (a Group) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "meter:1".
func (a Meter) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "set_queue:5".
func (a SetQueue) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "pop_queue".
func (a PopQueue) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "enqueue:2:3".
func (a Enqueue) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "conjunction(7,1/2)".
func (a Conjunction) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "note:00.01.02".
func (a Note) String() string { return string(a.append(nil)) }

// String is the action as a dump shows it: "exit".
func (a Exit) String() string { return string(a.append(nil)) }
