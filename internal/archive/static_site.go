package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"atelie/internal/files"
	"atelie/internal/i18n"
)

// This file writes the static copy of the site into an archive: HTML pages that can be read without the server, and their assets (style
// sheets, fonts, icons and pictures). Each page and each asset is an entry (a file in the archive). static_page.go rewrites the HTML of one
// page.

// Folders of the static copy.
const (
	assetsFolder   = staticFolder + "assets/"   // style sheets, fonts, icons
	picturesFolder = staticFolder + "pictures/" // renditions
)

// maxWidths are the maximum widths in pixels of the renditions (resized copies of pictures) in a static copy. For each picture and each of
// these widths, the copy has the widest rendition within the width. For example, of the widths 320, 800 and 2400 it has 320 and 800. If
// even the narrowest rendition is too wide, the copy has the narrowest.
var maxWidths = []int{640, 1600}

// staticSite writes the static copy into the archive. It starts with the pages in paths, in both languages, and adds each page to which a
// written page links. A long gallery is divided into several pages, called parts. The stem of a page is the name of its entry without the
// folder of its language and without ".html", such as "works/heron".
type staticSite struct {
	*exporter           // writes the entries of the archive
	paths     []string  // paths of the public pages on the site
	pages     []View    // all pages that are known so far, in the order in which they are written
	used      usedNames // the names of the assets' entries, and the stems of the works' pages

	entries    map[View]string   // names of the entries of all pages
	partCounts map[View]int      // number of parts of each gallery, by the view of its first part
	workViews  map[string]View   // view of each work's page in English, by the work's id
	workStems  map[string]string // stem of each work's page, by the work's id
	assets     map[string]string // names of the assets' entries, by URL; "" for assets that the site does not have
	objects    map[string]File   // uploaded files, by "bucket/name"
}

// writePages writes the static copy into the archive. It calls report with the step "pages".
func (e *exporter) writePages(ctx context.Context, report Progress) error {
	paths, err := e.Paths(ctx)
	if err != nil {
		return err
	}
	s := &staticSite{
		exporter: e, paths: paths, used: usedNames{}, entries: map[View]string{}, partCounts: map[View]int{}, workViews: map[string]View{},
		workStems: map[string]string{}, assets: map[string]string{}, objects: map[string]File{},
	}
	for _, f := range e.files {
		s.objects[f.Bucket+"/"+f.Name] = f
	}
	for _, path := range paths {
		s.addPage(View{Path: path, Language: "en"})
		s.addPage(View{Path: path, Language: "pt"})
	}
	for done := 0; done < len(s.pages); done++ { // writePage adds pages
		report("pages", done, len(s.pages))
		if err := s.writePage(ctx, s.pages[done]); err != nil {
			return err
		}
	}
	report("pages", len(s.pages), len(s.pages))
	e.manifest.Pages = len(s.pages)
	return nil
}

// addPage adds a page to s.pages, unless it is there already, and returns the name of its entry.
func (s *staticSite) addPage(v View) string {
	if name, ok := s.entries[v]; ok {
		return name
	}
	folder, stem, beforePart := staticFolder, strings.Trim(v.Path, "/"), "-"
	if v.Language == "pt" {
		folder += "pt/"
	}
	switch {
	case v.Work != "":
		if s.workStems[v.Work] == "" { // the pages in both languages have the same stem
			s.workStems[v.Work] = s.used.pick("works/"+cmp.Or(makeSlug(s.workTitles[v.Work]), "work"), "")
		}
		stem = s.workStems[v.Work]
	case v.Series != "":
		stem += "-series-" + v.Series
		beforePart = "--" // a slug has no two hyphens in a row, so no other series has this name
	case stem == "":
		stem = "index"
	}
	if v.Part > 0 {
		stem += beforePart + strconv.Itoa(v.Part+1)
	}
	s.entries[v] = folder + stem + ".html"
	s.pages = append(s.pages, v)
	return s.entries[v]
}

func (s *staticSite) writePage(ctx context.Context, v View) error {
	text, parts, err := s.Render(ctx, v)
	if err != nil {
		return err
	}
	document, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return err
	}
	if v.Part == 0 && v.Work == "" {
		s.partCounts[v] = parts
		for i := 1; i < parts; i++ {
			s.addPage(View{Path: v.Path, Language: v.Language, Series: v.Series, Part: i})
		}
	}
	p := &staticPage{staticSite: s, ctx: ctx, view: v, name: s.addPage(v)}
	if err := p.rewrite(document); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return s.add(p.name, zip.Deflate, func(w io.Writer) error { return html.Render(w, document) })
}

// pageURL returns the URL of a page on the site.
func (s *staticSite) pageURL(v View) (*url.URL, error) {
	u, err := url.Parse(s.SiteURL + v.Path)
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	if v.Work != "" {
		q.Set("art", v.Work)
	}
	if v.Series != "" {
		q.Set("series", v.Series)
	}
	if v.Language != "en" {
		q.Set("lang", v.Language)
	}
	u.RawQuery = q.Encode()
	return u, nil
}

// isSiteURL reports whether a URL is one of the site or its backend.
func (s *staticSite) isSiteURL(u *url.URL) bool {
	return slices.ContainsFunc([]string{s.SiteURL, s.APIURL}, func(own string) bool {
		o, err := url.Parse(own)
		return err == nil && o.Scheme == u.Scheme && o.Host == u.Host
	})
}

// isFileURL reports whether a URL is that of a file in the archive or of its rendition. It accepts every host, because rows can have URLs
// from a time when the site had another domain.
func (s *staticSite) isFileURL(u *url.URL) bool {
	_, object, ok := strings.Cut(u.Path, "/public/")
	_, known := s.objects[object]
	return ok && known && strings.HasPrefix(u.Path, "/storage/v1/")
}

// viewOf returns the view of a page's URL. ok is false for other URLs and for works that the site does not have.
func (s *staticSite) viewOf(ctx context.Context, u *url.URL) (v View, ok bool, err error) {
	v = View{Path: cmp.Or(strings.TrimSuffix(u.Path, "/"), "/"), Language: "en"}
	if u.Query().Get("lang") == "pt" {
		v.Language = "pt"
	}
	if !slices.Contains(s.paths, v.Path) {
		return v, false, nil
	}
	id := strings.ToLower(u.Query().Get("art"))
	if id == "" {
		v.Series = u.Query().Get("series") // a link that a page of this site has names a series that is there
		return v, true, nil
	}
	work, known := s.workViews[id]
	if !known {
		if work, ok, err = s.Locate(ctx, View{Path: v.Path, Language: "en", Work: id}); err != nil || !ok {
			return v, false, err
		}
		s.workViews[id] = work
	}
	work.Language = v.Language
	return work, true, nil
}

// addAsset returns the name of the entry of a file that pages show, and writes the entry at the first call for the file. The name is ""
// if the site has no such file. A public file that the archive has in files/ is not written again.
func (s *staticSite) addAsset(ctx context.Context, u *url.URL) (string, error) {
	q := u.Query()
	q.Del("v") // the version of the picture
	u = &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: q.Encode()}
	key := u.String()
	if name, ok := s.assets[key]; ok {
		return name, nil
	}
	if bucket, name, ok := files.ParsePublicURL(key); ok {
		if f, ok := s.objects[bucket+"/"+name]; ok && !f.PublicIsStripped {
			s.assets[key] = f.Path
			return f.Path, nil
		}
	}
	found, err := s.Get(ctx, key)
	if err != nil {
		return "", err
	}
	if found.Status != http.StatusOK {
		s.assets[key] = ""
		return "", nil
	}
	if strings.HasPrefix(found.ContentType, "text/css") {
		if found.Body, err = s.rewriteCSS(ctx, found.Body, u); err != nil {
			return "", err
		}
	}
	s.assets[key] = s.takeAssetName(u, q, found.ContentType)
	return s.assets[key], s.addBytes(s.assets[key], zip.Store, found.Body)
}

// extensions are the file name extensions of assets, by media type. Assets of other types keep the extension of their URL.
var extensions = map[string]string{"image/webp": ".webp", "image/jpeg": ".jpg", "image/png": ".png", "image/avif": ".avif", "image/gif": ".gif", "image/svg+xml": ".svg"}

// takeAssetName returns the name of the entry of an asset. q are the parameters of a rendition.
func (s *staticSite) takeAssetName(u *url.URL, q url.Values, contentType string) string {
	mediaType, _, _ := strings.Cut(contentType, ";")
	extension := cmp.Or(extensions[mediaType], path.Ext(u.Path))
	rest, isPicture := strings.CutPrefix(u.Path, "/storage/v1/")
	if !isPicture {
		return s.used.pick(assetsFolder+strings.TrimSuffix(path.Base(u.Path), path.Ext(u.Path)), extension)
	}
	stem := makeSlug(path.Base(rest))
	_, object, _ := strings.Cut(u.Path, "/public/")
	if f, ok := s.objects[object]; ok {
		stem = strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
	}
	size := q.Get("width")
	if q.Get("height") != "" {
		size += "x" + q.Get("height")
	}
	if size != "" {
		stem += "-" + makeSlug(size)
	}
	return s.used.pick(picturesFolder+stem, extension)
}

var cssURL = regexp.MustCompile(`url\(\s*["']?([^"')\s]+)["']?\s*\)`)

// rewriteCSS replaces the URLs in a style sheet, which becomes an entry of assetsFolder, by relative ones. base is the URL of the style
// sheet.
func (s *staticSite) rewriteCSS(ctx context.Context, text []byte, base *url.URL) (_ []byte, err error) {
	out := cssURL.ReplaceAllFunc(text, func(found []byte) []byte {
		rawURL := string(cssURL.FindSubmatch(found)[1])
		if strings.HasPrefix(rawURL, "data:") || strings.HasPrefix(rawURL, "#") || err != nil {
			return found
		}
		u, parseErr := base.Parse(rawURL)
		if parseErr != nil {
			return []byte("none")
		}
		name, assetErr := s.addAsset(ctx, u)
		if assetErr != nil {
			err = assetErr
		}
		if name == "" {
			return []byte("none")
		}
		return []byte("url(" + relativeURL(assetsFolder+"style.css", name) + ")")
	})
	return out, err
}

// text returns a text of the server in the language of a page.
func (v View) text(key string, pairs ...string) string {
	return i18n.Language(v.Language).Text(key, pairs...)
}
