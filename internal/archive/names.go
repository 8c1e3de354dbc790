package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"atelie/internal/files"
)

// This file chooses the names of an archive's entries (the files in the zip file). A stored file is named after the title of a row that
// shows it, such as an artwork. If no such row has a title, the entry gets the name that the file has in the site's storage.

// maxSlugLength is the maximum number of letters and digits in a slug (the form of a title that is used in file names).
const maxSlugLength = 60

// makeSlug converts a title to a slug, which has only lower-case letters without accents, digits and hyphens. For example, "Garça ao Sol!"
// becomes "garca-ao-sol". The slug of a title without letters and digits is "".
func makeSlug(title string) string {
	var b strings.Builder
	needsHyphen := false // a hyphen must be written before the next letter or digit
	length := 0
	for _, r := range norm.NFKD.String(title) {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent; NFKD has separated it from its letter
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			needsHyphen = b.Len() > 0
			continue
		}
		if length++; length > maxSlugLength {
			break
		}
		if needsHyphen {
			b.WriteByte('-')
			needsHyphen = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return norm.NFC.String(b.String())
}

// usedNames is the set of names in use. They are in lower case, because some file systems treat a.jpg and A.jpg as one name.
type usedNames map[string]bool

// pick returns a name that is not in use, and adds it to the names in use. For the stem "heron" and the extension ".jpg" it tries
// heron.jpg, heron-2.jpg, heron-3.jpg and so on.
func (n usedNames) pick(stem, extension string) string {
	for i := 1; ; i++ {
		name := stem + extension
		if i > 1 {
			name = fmt.Sprintf("%s-%d%s", stem, i, extension)
		}
		if key := strings.ToLower(name); !n[key] {
			n[key] = true
			return name
		}
	}
}

// nameFiles sets the paths of all files. A file is named after its title in titles, or after its object if it has no title. Files are named
// in the order of titles, so that the first of several files with one title gets the name without a number. Files without a title come last.
func nameFiles(all []File, titles *fileTitles) {
	positions := map[string]int{}
	for i, object := range titles.objects {
		positions[object] = i
	}
	indexes := make([]int, len(all))
	for i := range all {
		indexes[i] = i
	}
	position := func(i int) int {
		if n, ok := positions[all[i].Bucket+"/"+all[i].Name]; ok {
			return n
		}
		return len(positions)
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return position(a) - position(b) })
	used := usedNames{}
	for _, i := range indexes {
		f := &all[i]
		extension := strings.ToLower(path.Ext(f.Name))
		if makeSlug(extension) != strings.TrimPrefix(extension, ".") || extension == "." {
			extension = ""
		}
		folder := cmp.Or(makeSlug(f.Bucket), "files")
		title := titles.byObject[f.Bucket+"/"+f.Name]
		stem := cmp.Or(makeSlug(title), makeSlug(strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name))), "file")
		f.Path = used.pick(filesFolder+folder+"/"+stem, extension)
	}
}

// fileTitles collects the titles after which files are named, by object ("bucket/name"). If several rows show a file, the title is
// that of the first one.
type fileTitles struct {
	byObject map[string]string
	objects  []string // the keys of byObject, in the order in which they were added
}

func newFileTitles() *fileTitles { return &fileTitles{byObject: map[string]string{}} }

func (t *fileTitles) add(publicURL, title string) {
	bucket, name, ok := files.ParsePublicURL(publicURL)
	if !ok || title == "" {
		return
	}
	t.addObject(bucket+"/"+name, title)
	if still, ok := files.StillOf(name); ok {
		t.addObject(bucket+"/"+still, title+" still")
	}
}

func (t *fileTitles) addObject(object, title string) {
	if t.byObject[object] == "" {
		t.byObject[object] = title
		t.objects = append(t.objects, object)
	}
}

// addRow adds the files that a row of a table shows.
func (t *fileTitles) addRow(table string, row json.RawMessage) error {
	var r struct {
		Title        string   `json:"title"`
		ClientName   string   `json:"client_name"`
		ImageURL     string   `json:"image_url"`
		ImageGallery []string `json:"image_gallery"`
		VideoGallery []string `json:"video_gallery"`
		Thumbnail    string   `json:"video_thumbnail_url"`
		Key          string   `json:"key"`
		Value        struct {
			Portrait string `json:"portrait"`
		} `json:"value"`
	}
	if table == "site_settings" {
		if json.Unmarshal(row, &r) == nil { // other settings than the site's have other values
			t.add(r.Value.Portrait, "portrait")
		}
		return nil
	}
	if err := json.Unmarshal(row, &r); err != nil {
		return err
	}
	title := r.Title + r.ClientName
	for _, u := range slices.Concat([]string{r.ImageURL, r.Thumbnail}, r.ImageGallery, r.VideoGallery) {
		t.add(u, title)
	}
	return nil
}

// validName reports whether an entry may have a name: relative, with slashes, and no segment that leads elsewhere.
func validName(name string) bool {
	return len(name) <= 500 && name != "." && fs.ValidPath(name) && !strings.ContainsFunc(name, unicode.IsControl) && !strings.ContainsAny(name, `\:`)
}

// relativeURL returns the URL by which the entry from refers to the entry to.
func relativeURL(from, to string) string {
	a, b := strings.Split(path.Dir(from), "/"), strings.Split(to, "/")
	for len(a) > 0 && len(b) > 1 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	up := slices.Repeat([]string{".."}, len(a))
	for i := range b {
		b[i] = url.PathEscape(b[i])
	}
	return strings.Join(append(up, b...), "/")
}
