package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// staticPage rewrites one page of the static copy: what needs the server or scripts goes, what is for browsers without scripts stays,
// and all URLs of the site become relative.
type staticPage struct {
	*staticSite
	ctx  context.Context
	view View
	name string // the page's entry
	base *url.URL
}

// longStyle is the length in bytes from which a style element becomes a file that all pages share.
const longStyle = 2000

func (p *staticPage) rewrite(document *html.Node) (err error) {
	if p.base, err = p.url(p.view); err != nil {
		return err
	}
	if err := p.children(document); err != nil {
		return err
	}
	return p.addParts(document)
}

// children rewrites the children of a node. A child can be removed, or replaced by its own children.
func (p *staticPage) children(parent *html.Node) error {
	for n := parent.FirstChild; n != nil; {
		next := n.NextSibling
		switch {
		case n.Type == html.CommentNode || n.Type == html.ElementNode && p.isDropped(n):
			parent.RemoveChild(n)
		case n.DataAtom == atom.Noscript && len(n.Attr) > 0 && attribute(n, "class") != "":
			n.Data, n.DataAtom = "div", atom.Div
			next = n
		case n.DataAtom == atom.Noscript: // its content is for every browser here
			first := n.FirstChild
			for c := n.FirstChild; c != nil; c = n.FirstChild {
				n.RemoveChild(c)
				parent.InsertBefore(c, n)
			}
			parent.RemoveChild(n)
			if first != nil {
				next = first
			}
		case n.DataAtom == atom.Form:
			parent.InsertBefore(element(atom.P, p.view.text("archive.form"), "class", "text-lead"), n)
			parent.RemoveChild(n)
		case n.Type == html.ElementNode:
			keep, err := p.element(n)
			if err != nil {
				return err
			}
			if !keep {
				parent.RemoveChild(n)
				break
			}
			if err := p.children(n); err != nil {
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
		return !slices.Contains([]string{"icon", "apple-touch-icon", "stylesheet"}, attribute(n, "rel"))
	case atom.Meta:
		return attribute(n, "property") != "" || strings.HasPrefix(attribute(n, "name"), "twitter:")
	case atom.Button:
		return attribute(n, "type") == "button" && attribute(n, "aria-haspopup") == ""
	}
	return false
}

// element rewrites the attributes of an element. keep is false if the element shows nothing without a file that is missing.
func (p *staticPage) element(n *html.Node) (keep bool, err error) {
	switch n.DataAtom {
	case atom.Style:
		return true, p.style(n)
	case atom.Link:
		href, err := p.assetURL(attribute(n, "href"))
		setAttribute(n, "href", href)
		return href != "", err
	case atom.A:
		href, err := p.link(attribute(n, "href"))
		setAttribute(n, "href", href)
		return true, err
	case atom.Button: // it opens a dialog, which shows the same in full
		n.Data, n.DataAtom = "div", atom.Div
		setAttribute(n, "type", "")
		setAttribute(n, "aria-haspopup", "")
		if invitation := find(n, func(c *html.Node) bool { return slices.Contains(strings.Fields(attribute(c, "class")), "text-link") }); invitation != nil {
			setAttribute(invitation, "style", "visibility:hidden") // it keeps its place
		}
	case atom.Div:
		isLink := func(c *html.Node) bool { return c.DataAtom == atom.A }
		if hasAttribute(n, "data-carousel") && find(n, isLink) == nil {
			setAttribute(n, "tabindex", "0") // without links in it, only this lets a keyboard scroll it
		}
	case atom.Img, atom.Source, atom.Video:
		return p.media(n)
	}
	return true, nil
}

// style moves a long style sheet into a file.
func (p *staticPage) style(n *html.Node) error {
	if n.FirstChild == nil || len(n.FirstChild.Data) < longStyle {
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
		name = p.taken.take(assetsFolder+"style", ".css")
		p.assets[key] = name
		if err := p.add(name, zip.Deflate, func(w io.Writer) error {
			_, err := w.Write(css)
			return err
		}); err != nil {
			return err
		}
	}
	n.RemoveChild(n.FirstChild)
	n.Data, n.DataAtom = "link", atom.Link
	n.Attr = []html.Attribute{{Key: "rel", Val: "stylesheet"}, {Key: "href", Val: relative(p.name, name)}}
	return nil
}

// assetURL returns the relative URL of a file that the page shows, or "" if the archive has none: also if it is not the site's.
func (p *staticPage) assetURL(given string) (string, error) {
	u, err := p.base.Parse(given)
	if err != nil || given == "" || !p.isHere(u) && !p.isFile(u) {
		return "", nil //nolint:nilerr // what is no URL has no file
	}
	name, err := p.asset(p.ctx, u)
	if err != nil || name == "" {
		return "", err
	}
	return relative(p.name, name), nil
}

// link returns the URL for a link: relative to a page of the copy, or that of another site. It returns "" for what the copy has not.
func (p *staticPage) link(given string) (string, error) {
	u, err := p.base.Parse(given)
	if err != nil || given == "" {
		return "", nil //nolint:nilerr // what is no URL leads nowhere
	}
	switch u.Scheme {
	case "http", "https":
	case "mailto", "tel":
		return given, nil
	default:
		return "", nil
	}
	switch {
	case p.isFile(u):
		return p.assetURL(given)
	case !p.isHere(u), strings.HasPrefix(given, "#"):
		return given, nil
	}
	v, ok, err := p.linked(p.ctx, u)
	if err != nil || !ok {
		return "", err
	}
	out := relative(p.name, p.entry(v))
	if u.Fragment != "" {
		out += "#" + u.EscapedFragment()
	}
	return out, nil
}

// media rewrites the files of a picture or film.
func (p *staticPage) media(n *html.Node) (keep bool, err error) {
	var chosen []string
	largest := ""
	for _, c := range choose(attribute(n, "srcset")) {
		relative, err := p.assetURL(c.url)
		if err != nil {
			return false, err
		}
		if relative != "" {
			largest = relative
			chosen = append(chosen, relative+" "+strconv.Itoa(c.width)+"w")
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
		if largest, err = p.assetURL(attribute(n, "src")); err != nil {
			return false, err
		}
	}
	setAttribute(n, "src", largest)
	if poster := attribute(n, "poster"); poster != "" {
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

type candidate struct {
	url   string
	width int
}

// choose returns those candidates of a srcset that a static copy has, the largest last.
func choose(srcset string) (chosen []candidate) {
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
	for _, limit := range copyWidths {
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

// addParts adds links to the other parts of a gallery behind its list of works.
func (p *staticPage) addParts(document *html.Node) error {
	first := p.view
	first.Part = 0
	parts := p.parts[first]
	list := find(document, func(n *html.Node) bool { return attribute(n, "role") == "list" })
	if p.view.Work != "" || parts < 2 || list == nil {
		return nil
	}
	nav := element(atom.Nav, "", "aria-label", p.view.text("archive.parts"), "class", "mt-8 flex flex-wrap gap-x-8 gap-y-4")
	for i := range parts {
		at := first
		at.Part = i
		a := element(atom.A, strconv.Itoa(i+1), "class", "text-link", "href", relative(p.name, p.entry(at)), "aria-label", p.view.text("archive.part", "part", strconv.Itoa(i+1)))
		if i == p.view.Part {
			setAttribute(a, "aria-current", "page")
		}
		nav.AppendChild(a)
	}
	list.Parent.InsertBefore(nav, list.NextSibling)
	return nil
}

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

// element makes an element with a text and attributes, given as names and values.
func element(name atom.Atom, text string, attributes ...string) *html.Node {
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

func attribute(n *html.Node, name string) string {
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
