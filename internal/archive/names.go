package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"atelie/internal/files"
)

// maxSlug is the largest length of a slug in characters.
const maxSlug = 60

// slug makes a readable file name of a title: small letters without accents, digits and hyphens. It is "" if nothing is left.
func slug(title string) string {
	var b strings.Builder
	gap := false
	length := 0
	for _, r := range norm.NFKD.String(title) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			gap = b.Len() > 0
			continue
		}
		if length++; length > maxSlug {
			break
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return norm.NFC.String(b.String())
}

// names gives each entry a name of its own, also where upper and lower case are the same.
type names map[string]bool

// take returns stem+ending, or stem-2+ending and so on if that is taken.
func (n names) take(stem, ending string) string {
	for i := 1; ; i++ {
		name := stem + ending
		if i > 1 {
			name = fmt.Sprintf("%s-%d%s", stem, i, ending)
		}
		if key := strings.ToLower(name); !n[key] {
			n[key] = true
			return name
		}
	}
}

// nameFiles sets the paths of all files. Files are named after what shows them, in the order of titles.
func nameFiles(all []File, titles *titler) {
	order := map[string]int{}
	for i, object := range titles.order {
		order[object] = i
	}
	next := make([]int, len(all))
	for i := range all {
		next[i] = i
	}
	place := func(i int) int {
		if n, ok := order[all[i].Bucket+"/"+all[i].Name]; ok {
			return n
		}
		return len(order)
	}
	slices.SortStableFunc(next, func(a, b int) int { return place(a) - place(b) })
	taken := names{}
	for _, i := range next {
		f := &all[i]
		extension := strings.ToLower(path.Ext(f.Name))
		if slug(extension) != strings.TrimPrefix(extension, ".") || extension == "." {
			extension = ""
		}
		f.Path = taken.take(filesFolder+cmp.Or(slug(f.Bucket), "files")+"/"+cmp.Or(slug(titles.titles[f.Bucket+"/"+f.Name]), slug(strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name))), "file"), extension)
	}
}

// titler collects the titles after which files are named, by object ("bucket/name"). The first row that shows a file gives it its
// name.
type titler struct {
	titles map[string]string
	order  []string // the objects as they were added
}

func newTitler() *titler { return &titler{titles: map[string]string{}} }

func (t *titler) add(publicURL, title string) {
	bucket, name, ok := files.ParsePublicURL(publicURL)
	if !ok || title == "" {
		return
	}
	t.addObject(bucket+"/"+name, title)
	if still, ok := files.StillOf(name); ok {
		t.addObject(bucket+"/"+still, title+" still")
	}
}

func (t *titler) addObject(object, title string) {
	if t.titles[object] == "" {
		t.titles[object] = title
		t.order = append(t.order, object)
	}
}

// addRow adds the files that a row of a table shows.
func (t *titler) addRow(table string, row json.RawMessage) error {
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
	if name == "" || len(name) > 500 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsAny(name, `\:`) {
		return false
	}
	return path.Clean(name) == name && !strings.HasPrefix(name, "/") && name != "." && name != ".." && !strings.HasPrefix(name, "../")
}

// relative returns the URL by which the entry from refers to the entry to.
func relative(from, to string) string {
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
