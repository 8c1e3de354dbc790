package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// staticPage rewrites the HTML of one page for the static copy, whose pages are read without the server and without scripts:
//   - It removes elements that need the server or scripts, and shows the content of noscript elements.
//   - It moves long style sheets into files, and makes all URLs of the site relative.
//   - A long gallery is divided into several pages, called parts. Each part gets links to the other parts.
type staticPage struct {
	*staticSite // the static copy to which the page belongs
	ctx         context.Context
	view        View     // identifies the page: its path and language, the work or series that it shows, and the part
	name        string   // name of the page's entry in the archive
	base        *url.URL // URL of the page on the site; relative URLs in the page are resolved against it
}

// minSharedStyle is the minimum length in bytes of a style sheet that is moved from the page into a file. Pages with equal style sheets
// share that file.
const minSharedStyle = 2000

// rewrite sets base and rewrites the whole page.
func (p *staticPage) rewrite(document *html.Node) (err error) {
	if p.base, err = p.pageURL(p.view); err != nil {
		return err
	}
	if err := p.rewriteChildren(document); err != nil {
		return err
	}
	return p.addGalleryPageLinks(document)
}

// rewriteChildren rewrites the children of a node. A child can be removed, or replaced by its own children.
func (p *staticPage) rewriteChildren(parent *html.Node) error {
	for n := parent.FirstChild; n != nil; {
		next := n.NextSibling
		switch {
		case n.Type == html.CommentNode || (n.Type == html.ElementNode && p.isDropped(n)):
			parent.RemoveChild(n)
		// The content of a noscript element is shown in every browser. An element with a class becomes a div, because the class can
		// hide the content, for example on wide screens. An element without a class is replaced by its children.
		case n.DataAtom == atom.Noscript && getAttribute(n, "class") != "":
			n.Data, n.DataAtom = "div", atom.Div
			next = n // the next iteration rewrites the div
		case n.DataAtom == atom.Noscript:
			first := n.FirstChild
			for c := n.FirstChild; c != nil; c = n.FirstChild {
				n.RemoveChild(c)
				parent.InsertBefore(c, n)
			}
			parent.RemoveChild(n)
			if first != nil {
				next = first
			}
		case n.DataAtom == atom.Form: // a text says that the copy cannot send messages
			parent.InsertBefore(newElement(atom.P, p.view.text("archive.form"), "class", "text-lead"), n)
			parent.RemoveChild(n)
		case n.Type == html.ElementNode:
			keep, err := p.rewriteElement(n)
			if err != nil {
				return err
			}
			if !keep {
				parent.RemoveChild(n)
				break
			}
			if err := p.rewriteChildren(n); err != nil {
				return err
			}
		}
		n = next
	}
	return nil
}

// isDropped reports whether an element only serves scripts, the server, or search engines.
func (p *staticPage) isDropped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script:
		return true
	case atom.Link:
		return !slices.Contains([]string{"icon", "apple-touch-icon", "stylesheet"}, getAttribute(n, "rel"))
	case atom.Meta:
		return getAttribute(n, "property") != "" || strings.HasPrefix(getAttribute(n, "name"), "twitter:")
	case atom.Button:
		return getAttribute(n, "type") == "button" && getAttribute(n, "aria-haspopup") == ""
	}
	return false
}

// rewriteElement rewrites the name and the attributes of an element. keep is false if the file of the element is missing, so that it would
// show nothing.
func (p *staticPage) rewriteElement(n *html.Node) (keep bool, err error) {
	switch n.DataAtom {
	case atom.Style:
		return true, p.moveStyle(n)
	case atom.Link:
		href, err := p.assetURL(getAttribute(n, "href"))
		setAttribute(n, "href", href)
		return href != "", err
	case atom.A:
		href, err := p.rewriteLink(getAttribute(n, "href"))
		setAttribute(n, "href", href)
		return true, err
	case atom.Button: // on the site it opens a dialog, which shows the content of the button in full
		n.Data, n.DataAtom = "div", atom.Div
		setAttribute(n, "type", "")
		setAttribute(n, "aria-haspopup", "")
		if invitation := find(n, func(c *html.Node) bool { return slices.Contains(strings.Fields(getAttribute(c, "class")), "text-link") }); invitation != nil {
			setAttribute(invitation, "style", "visibility:hidden") // hidden and not removed, so that the layout stays the same
		}
	case atom.Div:
		isLink := func(c *html.Node) bool { return c.DataAtom == atom.A }
		if hasAttribute(n, "data-carousel") && find(n, isLink) == nil {
			setAttribute(n, "tabindex", "0") // without links in it, only this lets a keyboard scroll it
		}
	case atom.Img, atom.Source, atom.Video:
		return p.rewriteMedia(n)
	}
	return true, nil
}

// moveStyle moves a long style sheet into a file.
func (p *staticPage) moveStyle(n *html.Node) error {
	if n.FirstChild == nil || len(n.FirstChild.Data) < minSharedStyle {
		return nil
	}
	text := n.FirstChild.Data
	sum := sha256.Sum256([]byte(text))
	key := "style " + hex.EncodeToString(sum[:])
	name, ok := p.assets[key]
	if !ok {
		css, err := p.rewriteCSS(p.ctx, []byte(text), p.base)
		if err != nil {
			return err
		}
		name = p.used.pick(assetsFolder+"style", ".css")
		p.assets[key] = name
		if err := p.addBytes(name, zip.Deflate, css); err != nil {
			return err
		}
	}
	n.RemoveChild(n.FirstChild)
	n.Data, n.DataAtom = "link", atom.Link
	n.Attr = []html.Attribute{{Key: "rel", Val: "stylesheet"}, {Key: "href", Val: relativeURL(p.name, name)}}
	return nil
}

// assetURL returns the relative URL of a file that the page shows, and writes the file. The URL is "" if the file is missing or is
// not one of the site.
func (p *staticPage) assetURL(rawURL string) (string, error) {
	u, err := p.base.Parse(rawURL)
	if err != nil || rawURL == "" || !p.isSiteURL(u) && !p.isFileURL(u) {
		return "", nil //nolint:nilerr // what is no URL has no file
	}
	name, err := p.addAsset(p.ctx, u)
	if err != nil || name == "" {
		return "", err
	}
	return relativeURL(p.name, name), nil
}

// rewriteLink returns the URL for a link. It is relative if the copy has the page, unchanged if it leads to another site, and "" if the
// copy does not have what it leads to.
func (p *staticPage) rewriteLink(rawURL string) (string, error) {
	u, err := p.base.Parse(rawURL)
	if err != nil || rawURL == "" {
		return "", nil //nolint:nilerr // what is no URL leads nowhere
	}
	switch u.Scheme {
	case "http", "https":
	case "mailto", "tel":
		return rawURL, nil
	default:
		return "", nil
	}
	switch {
	case p.isFileURL(u):
		return p.assetURL(rawURL)
	case !p.isSiteURL(u), strings.HasPrefix(rawURL, "#"):
		return rawURL, nil
	}
	v, ok, err := p.viewOf(p.ctx, u)
	if err != nil || !ok {
		return "", err
	}
	out := relativeURL(p.name, p.addPage(v))
	if u.Fragment != "" {
		out += "#" + u.EscapedFragment()
	}
	return out, nil
}

// rewriteMedia rewrites the URLs of a picture or video. keep is false if the archive has none of its files.
func (p *staticPage) rewriteMedia(n *html.Node) (keep bool, err error) {
	var chosen []string
	largest := ""
	for _, c := range chooseCandidates(getAttribute(n, "srcset")) {
		assetURL, err := p.assetURL(c.url)
		if err != nil {
			return false, err
		}
		if assetURL != "" {
			largest = assetURL
			chosen = append(chosen, assetURL+" "+strconv.Itoa(c.width)+"w")
		}
	}
	setAttribute(n, "srcset", strings.Join(chosen, ", "))
	if len(chosen) == 0 {
		setAttribute(n, "sizes", "")
	}
	if n.DataAtom == atom.Source {
		return len(chosen) > 0, nil
	}
	if largest == "" {
		if largest, err = p.assetURL(getAttribute(n, "src")); err != nil {
			return false, err
		}
	}
	setAttribute(n, "src", largest)
	if poster := getAttribute(n, "poster"); poster != "" {
		poster, err := p.assetURL(poster)
		if err != nil {
			return false, err
		}
		setAttribute(n, "poster", poster)
	}
	if n.DataAtom == atom.Video {
		setAttribute(n, "controls", "controls") // nothing else can play it here
	}
	return largest != "", nil
}

// candidate is a picture of the attribute srcset.
type candidate struct {
	url   string
	width int
}

// chooseCandidates returns those candidates of a srcset that a static copy has (maxWidths), the largest last.
func chooseCandidates(srcset string) (chosen []candidate) {
	var all []candidate
	for srcset = strings.TrimSpace(srcset); srcset != ""; {
		address, rest, _ := strings.Cut(srcset, " ")
		descriptor, rest, _ := strings.Cut(rest, ",")
		if width, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(descriptor), "w")); err == nil {
			all = append(all, candidate{address, width})
		}
		srcset = strings.TrimSpace(rest)
	}
	slices.SortFunc(all, func(a, b candidate) int { return a.width - b.width })
	for _, limit := range maxWidths {
		best := -1
		for i, c := range all {
			if c.width <= limit || i == 0 {
				best = i
			}
		}
		if best >= 0 && !slices.Contains(chosen, all[best]) {
			chosen = append(chosen, all[best])
		}
	}
	return chosen
}

// addGalleryPageLinks adds links to all pages of a gallery behind its list of works.
func (p *staticPage) addGalleryPageLinks(document *html.Node) error {
	first := p.view
	first.Part = 0
	parts := p.partCounts[first]
	list := find(document, func(n *html.Node) bool { return getAttribute(n, "role") == "list" })
	if p.view.Work != "" || parts < 2 || list == nil {
		return nil
	}
	nav := newElement(atom.Nav, "", "aria-label", p.view.text("archive.parts"), "class", "mt-8 flex flex-wrap gap-x-8 gap-y-4")
	for i := range parts {
		at := first
		at.Part = i
		a := newElement(atom.A, strconv.Itoa(i+1), "class", "text-link", "href", relativeURL(p.name, p.addPage(at)), "aria-label", p.view.text("archive.part", "part", strconv.Itoa(i+1)))
		if i == p.view.Part {
			setAttribute(a, "aria-current", "page")
		}
		nav.AppendChild(a)
	}
	list.Parent.InsertBefore(nav, list.NextSibling)
	return nil
}

// find returns the first element, in the order of the document, for which wanted returns true, or nil.
func find(n *html.Node, wanted func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && wanted(n) {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := find(c, wanted); found != nil {
			return found
		}
	}
	return nil
}

// newElement makes an element with a text and attributes, given as names and values.
func newElement(name atom.Atom, text string, attributes ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name.String(), DataAtom: name}
	for i := 0; i+1 < len(attributes); i += 2 {
		n.Attr = append(n.Attr, html.Attribute{Key: attributes[i], Val: attributes[i+1]})
	}
	if text != "" {
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	}
	return n
}

func hasAttribute(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// getAttribute returns the value of an attribute, "" if the element does not have it.
func getAttribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// setAttribute sets an attribute, or removes it if value is "".
func setAttribute(n *html.Node, name, value string) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if value != "" {
		n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
	}
}
