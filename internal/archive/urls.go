package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"atelie/internal/files"
)

// This file finds the URLs of stored files in the rows of an archive, and changes them for the site that imports it.

// tablesWithFiles are the exported tables whose rows have URLs of stored files.
var tablesWithFiles = []string{"products", "reviews", "cover_images", "series", "site_settings"}

// rebaseValue replaces the origin (scheme and host) of the URLs in the value of a column, and returns the new value. It replaces only the
// origins of the archive's own files. The new origin is apiURL, the origin of the importing site. For example, with the apiURL
// https://new.example, the first URL becomes the second:
//
//	https://old.example/storage/v1/object/public/product-images/a.jpg
//	https://new.example/storage/v1/object/public/product-images/a.jpg
//
// archivedFiles are the files in the archive, by "bucket/name". URLs of other files, and URLs without an origin, stay as they are.
func rebaseValue(value json.RawMessage, apiURL string, archivedFiles map[string]bool) (json.RawMessage, error) {
	if !bytes.Contains(value, []byte(files.PublicPath)) {
		return value, nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber() // keeps the digits of numbers
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(mapStrings(tree, func(text string) string {
		if altTexts, ok := rebaseAltTexts(text, apiURL, archivedFiles); ok {
			return altTexts
		}
		return rebaseURL(text, apiURL, archivedFiles)
	}))
}

// rebaseAltTexts is rebaseURL for the column alt_texts. A value of this column is a string with a JSON object. Each key is the URL of a
// picture, and each value has the picture's alternative texts. For example:
//
//	{"https://old.example/storage/v1/object/public/product-images/a.jpg":{"en":"A boat","pt":"Um barco"}}
//
// ok is false if text is not such an object.
func rebaseAltTexts(text, apiURL string, archivedFiles map[string]bool) (rebased string, ok bool) {
	if !strings.HasPrefix(text, `{"`) {
		return "", false
	}
	type texts struct {
		EN string `json:"en,omitempty"`
		PT string `json:"pt,omitempty"`
	}
	var byURL map[string]texts
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&byURL) != nil {
		return "", false
	}
	byNewURL := make(map[string]texts, len(byURL))
	for pictureURL, t := range byURL {
		byNewURL[rebaseURL(pictureURL, apiURL, archivedFiles)] = t
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(byNewURL) != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// mapStrings replaces all strings within a decoded JSON value, except the keys of objects.
func mapStrings(v any, replace func(string) string) any {
	switch v := v.(type) {
	case string:
		return replace(v)
	case []any:
		for i := range v {
			v[i] = mapStrings(v[i], replace)
		}
	case map[string]any:
		for name := range v {
			v[name] = mapStrings(v[name], replace)
		}
	}
	return v
}

// rebaseURL returns text with apiURL in place of its origin, if text is the public URL of a file in archivedFiles and has an origin. It
// returns other texts as they are.
func rebaseURL(text, apiURL string, archivedFiles map[string]bool) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	bucket, name, ok := files.ParsePublicURL(text)
	if !ok || !archivedFiles[bucket+"/"+name] {
		return text
	}
	moved := *u
	moved.Scheme, moved.Host, moved.User = "", "", nil
	return apiURL + moved.String()
}

// setShownBy sets the field ShownBy of the refused files.
func (a *Archive) setShownBy(refused []RefusedFile) error {
	if len(refused) == 0 {
		return nil
	}
	byObject := map[string]*RefusedFile{}
	for i := range refused {
		byObject[refused[i].Object] = &refused[i]
	}
	for _, table := range tablesWithFiles {
		if err := a.eachRow(tablesFolder+table+".json", func(text json.RawMessage) error {
			var row map[string]any
			if err := json.Unmarshal(text, &row); err != nil {
				return err
			}
			for _, column := range slices.Sorted(maps.Keys(row)) {
				mapStrings(row[column], func(text string) string {
					bucket, name, ok := files.ParsePublicURL(text)
					if file := byObject[bucket+"/"+name]; ok && file != nil {
						shown := fmt.Sprintf("%s %v (%s)", table, cmp.Or(row["id"], row["key"]), column)
						if !slices.Contains(file.ShownBy, shown) {
							file.ShownBy = append(file.ShownBy, shown)
						}
					}
					return text
				})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
