package pipeline

import of "hpnn/datapath/openflow"

// The tables. Jumps go to higher numbers only.
const (
	tableIngress         of.TableID = 0
	tableClassify        of.TableID = 1
	tableSource          of.TableID = 2
	tableARP             of.TableID = 5
	tableICMP            of.TableID = 6
	tableListener        of.TableID = 10
	tableSlots           of.TableID = 11
	tableMember          of.TableID = 12
	tableDelivery        of.TableID = 13
	tableHairpin         of.TableID = 14
	tableRouted          of.TableID = 15
	tableRoutedUndone    of.TableID = 16
	tableRoutedVerdict   of.TableID = 17
	tableHairpinBack     of.TableID = 18
	tableHairpinHome     of.TableID = 19
	tableRoute           of.TableID = 20
	tableAdjacency       of.TableID = 21
	tableSwitched        of.TableID = 22
	tableSwitchedUndone  of.TableID = 23
	tableSwitchedVerdict of.TableID = 24
	tableSwitch          of.TableID = 25
)

// A Table declares one table of the pipeline: what it is for and all that its flows may do. [Lint] holds a program to it.
type Table struct {
	ID      of.TableID
	Name    string
	Purpose string       // one sentence
	Matches []of.Field   // that flows may match
	Sets    []of.Field   // that flows may change, ct_label in a commit included
	Next    []of.TableID // where flows may lead by goto_table
	Tracked []of.TableID // where flows may lead by ct(table=): the connection tracker has looked at the frame
	Learns  []of.TableID // the tables that flows may learn into
	Reports bool         // flows may send frames to the daemon
	Miss    Miss         // what becomes of a frame that no other flow matches
	Drops   []Drop       // why flows drop
}

// A Drop says why the flows of a priority drop.
type Drop struct {
	Priority uint16
	Last     uint16 // the reason holds for Priority to Last; 0: for Priority alone
	Reason   string
}

// Why says why flows of a table and priority drop; false if none do.
func Why(table of.TableID, priority uint16) (reason string, ok bool) {
	for _, s := range stages() {
		if s.ID == table {
			return s.Why(priority)
		}
	}
	return "", false
}

// Why says why flows of a priority drop; false if none do.
func (t Table) Why(priority uint16) (reason string, ok bool) {
	for _, d := range t.Drops {
		if d.Priority <= priority && priority <= max(d.Priority, d.Last) {
			return d.Reason, true
		}
	}
	return "", false
}

// A Miss is the action of a table's flow of priority 0.
type Miss struct {
	next  of.TableID
	jumps bool
}

func jumps(next of.TableID) Miss { return Miss{next, true} }

// Next is the table where a frame goes on; false if it is dropped.
func (m Miss) Next() (of.TableID, bool) { return m.next, m.jumps }

// String is "drop" or "goto 20".
func (m Miss) String() string {
	if m.jumps {
		return jump(m.next).String()
	}
	return "drop"
}

func (m Miss) tables() []of.TableID {
	if m.jumps {
		return []of.TableID{m.next}
	}
	return nil
}

func (m Miss) actions() []of.Action {
	if m.jumps {
		return []of.Action{jump(m.next)}
	}
	return nil
}

// A stage is a table and the function that writes its flows.
type stage struct {
	Table
	render func(n network, w *writer)
}

// stages lists the tables in ascending order.
func stages() []stage {
	return []stage{
		stageIngress, stageClassify, stageSource, stageARP, stageICMP,
		stageListener, stageSlots, stageMember, stageDelivery, stageHairpin,
		routed.entry(), routed.translated(), routed.verdict(), stageHairpinBack, stageHairpinHome,
		stageRoute, stageAdjacency,
		switched.entry(), switched.translated(), switched.verdict(), stageSwitch,
	}
}

// Tables lists the declarations of all tables in ascending order.
func Tables() []Table {
	var all []Table
	for _, s := range stages() {
		all = append(all, s.Table)
	}
	return all
}
