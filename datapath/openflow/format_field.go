package openflow

// Format writes a value of the field as set_field does: 10.0.0.1, 02:42:c0:a8:05:14, 0x5, 80.
func (f Field) Format(v Value) string { return string(f.appendSet(nil, v, f.Mask())) }
