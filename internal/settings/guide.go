package settings

import (
	"context"
	"encoding/json"
	"slices"

	"atelie/internal/db"
)

// guideStates are the states of the first-run guide, which shows a new owner what to set up. The state is "" until the owner
// has finished or dismissed the guide.
var guideStates = []string{"", "done", "dismissed"}

// worksSeed is the name that seedKeys adds while all works are those of the demo content.
const worksSeed = "works"

// seedKeys returns the names of texts that the owner has not changed: those that equal the text of the seed or of the loaded
// demo content. A name has the form that errField uses, such as "site.texts.en.about.title". The list does not contain the date
// of the privacy text.
func (s *Service) seedKeys(ctx context.Context, q db.Querier, site Site) ([]string, error) {
	seeds := [][]byte{seed}
	demo, works, err := s.cfg.Demo(ctx, q)
	if err != nil {
		return nil, err
	}
	if demo != nil {
		seeds = append(seeds, demo)
	}
	own, err := json.Marshal(site)
	if err != nil {
		return nil, err
	}
	current, err := textsByName(own)
	if err != nil {
		return nil, err
	}
	keys := []string{}
	for _, text := range seeds {
		given, err := textsByName(text)
		if err != nil {
			return nil, err
		}
		for key, value := range given {
			if value != "" && current[key] == value && key != "site.privacySince" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	if only, err := onlyProducts(ctx, q, works); err != nil {
		return nil, err
	} else if only {
		keys = append(keys, worksSeed)
	}
	return keys, nil
}

// textsByName returns all strings of a site in JSON, by their names such as "site.texts.en.about.title".
func textsByName(site []byte) (map[string]string, error) {
	var tree map[string]any
	if err := json.Unmarshal(site, &tree); err != nil {
		return nil, err
	}
	found := map[string]string{}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch v := value.(type) {
		case string:
			found[at] = v
		case map[string]any:
			for name, inner := range v {
				walk(at+"."+name, inner)
			}
		}
	}
	walk("site", tree)
	return found, nil
}
