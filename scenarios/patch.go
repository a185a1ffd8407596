package scenarios

import (
	"fmt"
	"os"

	"github.com/goccy/go-yaml"

	"hpnn/model"
)

// patch reads a topology with a text laid over it.
func patch(path, over string) (model.Topology, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return model.Topology{}, fmt.Errorf("load topology: %w", err)
	}
	var base, change any
	if err := yaml.Unmarshal(text, &base); err != nil {
		return model.Topology{}, fmt.Errorf("load topology %s: %w", path, err)
	}
	if err := yaml.Unmarshal([]byte(over), &change); err != nil {
		return model.Topology{}, fmt.Errorf("lay the indented lines over the topology: %w", err)
	}
	merged, err := yaml.Marshal(overlay(base, change))
	if err != nil {
		return model.Topology{}, fmt.Errorf("lay the indented lines over the topology: %w", err)
	}
	return model.Parse(path+" with the indented lines over it", merged)
}

// overlay lays a YAML value over another: mappings key by key, lists of named things thing by thing, and
// null takes away. Whatever else there is takes the other's place.
func overlay(base, over any) any {
	switch over := over.(type) {
	case map[string]any:
		b, ok := base.(map[string]any)
		if !ok {
			b = map[string]any{}
		}
		for k, v := range over {
			if v == nil {
				delete(b, k)
			} else {
				b[k] = overlay(b[k], v)
			}
		}
		return b
	case []any:
		b, ok := base.([]any)
		if !ok || !named(over) {
			return over
		}
		return overlayList(b, over)
	}
	return over
}

// overlayList lays named things over those of the same name; those whose only other key is "remove" go.
func overlayList(base, over []any) []any {
	for _, v := range over {
		thing := v.(map[string]any)
		i := 0
		for i < len(base) && nameOf(base[i]) != nameOf(thing) {
			i++
		}
		switch {
		case thing["remove"] == true:
			if i < len(base) {
				base = append(base[:i:i], base[i+1:]...)
			}
		case i == len(base):
			base = append(base, thing)
		default:
			base[i] = overlay(base[i], thing)
		}
	}
	return base
}

func named(list []any) bool {
	for _, v := range list {
		if nameOf(v) == nil {
			return false
		}
	}
	return true
}

// nameOf is a thing's name; of a member that has none, its host's; of a route, its prefix.
func nameOf(v any) any {
	thing, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, key := range []string{"name", "host", "prefix"} {
		if thing[key] != nil {
			return thing[key]
		}
	}
	return nil
}
