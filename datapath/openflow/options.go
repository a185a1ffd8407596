package openflow

// Option changes how text is read.
type Option func(*options)

type options struct {
	ports map[string]PortNo
	dump  bool // accept what dump-flows prints but add-flow refuses
}

// WithPorts lets text name ports, in quotation marks or without.
func WithPorts(ports map[string]PortNo) Option { return func(o *options) { o.ports = ports } }

func newOptions(opts []Option) *options {
	o := &options{}
	for _, opt := range opts {
		opt(o)
	}
	return o
}
