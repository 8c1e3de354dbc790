package archive

import (
	"bytes"
	"encoding/json"
	"net/url"

	"atelie/internal/files"
)

// tablesWithFiles are the exported tables whose rows have URLs of stored files.
var tablesWithFiles = []string{"products", "reviews", "cover_images", "site_settings"}

// moveURLs returns a JSON value in which the public URLs of the archive's files begin with apiURL, in place of the exported site's
// origin. inArchive has the files by "bucket/name". URLs without an origin, and those of other files, stay as they are.
func moveURLs(value json.RawMessage, apiURL string, inArchive map[string]bool) (json.RawMessage, error) {
	if !bytes.Contains(value, []byte(files.PublicPath)) {
		return value, nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	var move func(v any) any
	move = func(v any) any {
		switch v := v.(type) {
		case string:
			return moveURL(v, apiURL, inArchive)
		case []any:
			for i := range v {
				v[i] = move(v[i])
			}
		case map[string]any:
			for name := range v {
				v[name] = move(v[name])
			}
		}
		return v
	}
	return json.Marshal(move(tree))
}

// moveURL is moveURLs for one text.
func moveURL(text, apiURL string, inArchive map[string]bool) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	bucket, name, ok := files.ParsePublicURL(text)
	if !ok || !inArchive[bucket+"/"+name] {
		return text
	}
	moved := *u
	moved.Scheme, moved.Host, moved.User = "", "", nil
	return apiURL + moved.String()
}
