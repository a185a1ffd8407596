package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hpnn/internal/pipeline"
	"hpnn/model"
)

// adminStore keeps the operator's word in a file: a JSON object of "pool/member": "drained" or
// "enabled". It is replaced as a whole, so that a crash leaves the old one or the new one.
type adminStore struct {
	path string
	mu   sync.Mutex
	word map[pipeline.MemberName]model.AdminState
}

// openAdminStore reads the file, which need not exist. Without a path nothing is kept.
func openAdminStore(path string) (*adminStore, error) {
	s := &adminStore{path: path, word: map[pipeline.MemberName]model.AdminState{}}
	if path == "" {
		return s, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	var words map[string]model.AdminState
	if err := json.Unmarshal(data, &words); err != nil {
		return nil, fmt.Errorf("read state %s: %w: mend the file, or remove it to enable every member", path, err)
	}
	for text, admin := range words {
		pool, member, ok := strings.Cut(text, "/")
		if !ok {
			return nil, fmt.Errorf("read state %s: %q is no pool/member: mend the file, or remove it to enable every member", path, text)
		}
		s.word[pipeline.MemberName{Pool: pool, Member: member}] = admin
	}
	return s, nil
}

func (s *adminStore) all() map[pipeline.MemberName]model.AdminState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.word)
}

// set notes the word and writes the file.
func (s *adminStore) set(names []pipeline.MemberName, admin model.AdminState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.word[name] = admin
	}
	if s.path == "" {
		return nil
	}
	words := map[string]model.AdminState{}
	for name, admin := range s.word {
		words[name.String()] = admin
	}
	data, err := json.MarshalIndent(words, "", "  ")
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := replaceFile(s.path, append(data, '\n')); err != nil {
		return fmt.Errorf("write state: %w: the change is in force, but a restart will forget it", err)
	}
	return nil
}

// replaceFile writes a file beside path and renames it over path.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
