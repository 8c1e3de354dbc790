package settings

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"atelie/internal/db"
)

// The first-run guide shows a new owner what to set up. This file finds the texts and works for it that the owner has not changed yet.

// guideStates are the states of the guide. The state is "" until the owner has finished or dismissed the guide.
var guideStates = []string{"", "done", "dismissed"}

// unchangedWorks is an element of the result of unchangedNames if the site has no other works than those of the demo content.
const unchangedWorks = "works"

// unchangedNames returns the names of the texts that the owner has not changed: those that equal the texts of a new site or of the demo
// content. A name is for example "site.texts.en.about.title". The date of the privacy text and the choices for the gallery are left out.
func (s *Service) unchangedNames(ctx context.Context, q db.Querier, site Site) ([]string, error) {
	originals := [][]byte{seed}
	demo, works, err := s.cfg.Demo(ctx, q) // the site of the demo content in JSON, and the ids of its works
	if err != nil {
		return nil, err
	}
	if demo != nil {
		originals = append(originals, demo)
	}
	siteJSON, err := json.Marshal(site)
	if err != nil {
		return nil, err
	}
	current, err := textsByName(siteJSON)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, original := range originals {
		texts, err := textsByName(original)
		if err != nil {
			return nil, err
		}
		for name, text := range texts {
			isUnchanged := text != "" && current[name] == text
			isLeftOut := name == "site.privacySince" || strings.HasPrefix(name, "site.gallery.")
			if isUnchanged && !isLeftOut && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	if hasOnlyDemoWorks, err := onlyProducts(ctx, q, works); err != nil {
		return nil, err
	} else if hasOnlyDemoWorks {
		names = append(names, unchangedWorks)
	}
	return names, nil
}

// textsByName returns all strings of a site in JSON, by their names such as "site.texts.en.about.title".
func textsByName(site []byte) (map[string]string, error) {
	var tree map[string]any
	if err := json.Unmarshal(site, &tree); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	var walk func(name string, value any)
	walk = func(name string, value any) {
		switch v := value.(type) {
		case string:
			texts[name] = v
		case map[string]any:
			for member, inner := range v {
				walk(name+"."+member, inner)
			}
		}
	}
	walk("site", tree)
	return texts, nil
}
