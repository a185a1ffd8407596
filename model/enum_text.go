package model

// String returns the word used in YAML.
func (k SegmentKind) String() string { return segmentKinds.text(k) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (k SegmentKind) MarshalText() ([]byte, error) { return segmentKinds.marshal(k) }

// UnmarshalText takes the word used in YAML.
func (k *SegmentKind) UnmarshalText(text []byte) error { return segmentKinds.unmarshal(k, text) }

// String returns the word used in YAML.
func (h Hash) String() string { return hashes.text(h) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (h Hash) MarshalText() ([]byte, error) { return hashes.marshal(h) }

// UnmarshalText takes the word used in YAML.
func (h *Hash) UnmarshalText(text []byte) error { return hashes.unmarshal(h, text) }

// String returns the word used in YAML.
func (a Algorithm) String() string { return algorithms.text(a) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (a Algorithm) MarshalText() ([]byte, error) { return algorithms.marshal(a) }

// UnmarshalText takes the word used in YAML.
func (a *Algorithm) UnmarshalText(text []byte) error { return algorithms.unmarshal(a, text) }

// String returns the word used in YAML.
func (p Policy) String() string { return policies.text(p) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (p Policy) MarshalText() ([]byte, error) { return policies.marshal(p) }

// UnmarshalText takes the word used in YAML.
func (p *Policy) UnmarshalText(text []byte) error { return policies.unmarshal(p, text) }

// String returns the word used in YAML.
func (s AdminState) String() string { return adminStates.text(s) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (s AdminState) MarshalText() ([]byte, error) { return adminStates.marshal(s) }

// UnmarshalText takes the word used in YAML.
func (s *AdminState) UnmarshalText(text []byte) error { return adminStates.unmarshal(s, text) }

// String returns the word used in YAML.
func (p Protocol) String() string { return protocols.text(p) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (p Protocol) MarshalText() ([]byte, error) { return protocols.marshal(p) }

// UnmarshalText takes the word used in YAML.
func (p *Protocol) UnmarshalText(text []byte) error { return protocols.unmarshal(p, text) }

// String returns the word used in YAML.
func (m MonitorType) String() string { return monitorTypes.text(m) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (m MonitorType) MarshalText() ([]byte, error) { return monitorTypes.marshal(m) }

// UnmarshalText takes the word used in YAML.
func (m *MonitorType) UnmarshalText(text []byte) error { return monitorTypes.unmarshal(m, text) }

// String returns the word used in YAML.
func (s InitialState) String() string { return initialStates.text(s) }

// MarshalText returns the word used in YAML, or an error for a value that is none of the declared ones.
func (s InitialState) MarshalText() ([]byte, error) { return initialStates.marshal(s) }

// UnmarshalText takes the word used in YAML.
func (s *InitialState) UnmarshalText(text []byte) error { return initialStates.unmarshal(s, text) }
