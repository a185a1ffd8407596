package openflow

// ct reads "ct", "ct()" and "ct(commit,force,table=3,zone=5,nat(...),alg=ftp,exec(...))".
func (p *actionParser) ct(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	r := ctReader{p: p}
	err = list.each(r.item)
	return r.ct, err
}

// ctReader reads the arguments of ct.
type ctReader struct {
	p    *actionParser
	ct   CT
	seen keys
}

func (r *ctReader) item(it item) error {
	if err := r.seen.again(it); err != nil {
		return err
	}
	switch it.key.s {
	case "commit":
		r.ct.Commit = true
		return it.flag()
	case "force":
		r.ct.Force = true
		return it.flag()
	case "nat":
		return r.nat(it)
	case "exec":
		return r.exec(it)
	}
	return r.assigned(it)
}

func (r *ctReader) assigned(it item) error {
	switch it.key.s {
	case "table", "zone", "alg":
	default:
		return it.all.fault("ct has no such argument", "one of commit force table= zone= nat alg= exec")
	}
	value, err := it.assigned()
	if err != nil {
		return err
	}
	switch it.key.s {
	case "table":
		r.ct.Recirc = true
		r.ct.Table, err = value.tableID()
	case "zone":
		err = r.zone(value)
	case "alg":
		r.ct.ALG, err = readALG(value)
	}
	return err
}

func (r *ctReader) zone(t text) (err error) {
	if t.s[0] >= '0' && t.s[0] <= '9' {
		return readUint16(t, &r.ct.Zone)
	}
	r.ct.ZoneSrc, err = t.subfield()
	return err
}

func readALG(t text) (ALG, error) {
	for _, g := range []ALG{ALGFTP, ALGTFTP} {
		if g.String() == t.s {
			return g, nil
		}
	}
	return 0, t.fault("unknown application helper", "write ftp or tftp")
}

// exec reads the actions of exec, among which OVS prints a nat that was written after it.
func (r *ctReader) exec(it item) error {
	list, err := it.list()
	if err != nil {
		return err
	}
	inner := r.p.inner(inCT)
	err = list.each(func(a item) error {
		if a.key.s == "nat" {
			return r.item(a)
		}
		return inner.item(a)
	})
	r.ct.Exec = inner.actions
	if err == nil && list.trim().s == "" {
		return it.all.fault("exec needs actions", "write exec(set_field:VALUE->ct_mark)")
	}
	return err
}

func (r *ctReader) nat(it item) error {
	list, err := it.list()
	if err != nil {
		return err
	}
	var n natReader
	if err := list.each(n.item); err != nil {
		return err
	}
	if n.nat.Kind == NATExisting && n.nat != (NAT{}) {
		return it.all.fault("options of nat need src or dst", "add src= or dst=")
	}
	r.ct.NAT = &n.nat
	return nil
}
