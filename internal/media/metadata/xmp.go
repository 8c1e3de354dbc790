package metadata

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// This file reads and makes XMP packets. XMP is metadata as XML. A packet is a list of properties, such as dc:creator.

// The XML namespaces of the properties that are read or written.
const (
	nsRDF       = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	nsDC        = "http://purl.org/dc/elements/1.1/"
	nsRights    = "http://ns.adobe.com/xap/1.0/rights/"
	nsPhotoshop = "http://ns.adobe.com/photoshop/1.0/"
	nsPLUS      = "http://ns.useplus.org/ldf/xmp/1.0/"
)

// rightsProperties are properties about rights. A copy without private metadata keeps these properties, and also dc:creator and dc:rights.
// DataMining states whether the picture may be used for machine learning.
var rightsProperties = [...]struct {
	namespace, prefix, name string
	isAlt                   bool // the value is an rdf:Alt, with a text for each language
}{
	{nsRights, "xmpRights", "Marked", false},
	{nsRights, "xmpRights", "UsageTerms", true},
	{nsRights, "xmpRights", "WebStatement", false},
	{nsPhotoshop, "photoshop", "Credit", false},
	{nsPLUS, "plus", "DataMining", false},
	{nsPLUS, "plus", "OtherConstraints", true},
}

// Limits of an XMP packet, besides its length in bytes (maxBlock).
const (
	maxDepth  = 50      // levels of nested elements
	maxTokens = 100_000 // XML tokens (tags and texts)
)

// readXMP reads an XMP packet (ISO 16684-1) into info, up to the first error in its XML.
func readXMP(packet []byte, info *Info) {
	d := xml.NewDecoder(bytes.NewReader(packet))
	d.Strict = false
	var path []xml.Name // names of the open elements
	var creators, rights valueList
	var otherRights [len(rightsProperties)]valueList
	listFor := func(name xml.Name) *valueList { // nil for properties that are not read
		switch name {
		case xml.Name{Space: nsDC, Local: "creator"}:
			return &creators
		case xml.Name{Space: nsDC, Local: "rights"}:
			return &rights
		}
		for i, p := range rightsProperties {
			if (name == xml.Name{Space: p.namespace, Local: p.name}) {
				return &otherRights[i]
			}
		}
		return nil
	}
	var current *valueList // values of the property whose element is open
scan:
	for range maxTokens {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(path) >= maxDepth {
				break scan
			}
			path = append(path, t.Name)
			info.markSensitive(t.Name)
			// A property is an element at depth 3 (rdf:RDF, rdf:Description, property) or an attribute of the element at depth 2.
			depth := rdfDepth(path)
			if depth == 3 {
				current = listFor(t.Name)
			}
			for _, a := range t.Attr {
				info.markSensitive(a.Name)
				if depth == 2 {
					if l := listFor(a.Name); l != nil {
						l.add(a.Value)
					}
				} else if current != nil && a.Name.Space == nsRDF && a.Name.Local == "resource" {
					current.add(a.Value)
				}
			}
			if current != nil {
				current.text.Reset()
			}
		case xml.CharData:
			if current != nil && current.text.Len() < 4*maxText {
				current.text.Write(t)
			}
		case xml.EndElement:
			if current != nil {
				current.add(current.text.String())
				current.text.Reset()
			}
			if rdfDepth(path) == 3 {
				current = nil
			}
			if len(path) > 0 {
				path = path[:len(path)-1]
			}
		}
	}
	info.setCreator(strings.Join(creators.items, "; "))
	info.setRights(rights.first())
	for i := range otherRights {
		if info.otherRights[i] == "" {
			info.otherRights[i] = otherRights[i].first()
		}
	}
}

// valueList collects the values of a property, at most 100.
type valueList struct {
	items []string
	text  strings.Builder
}

func (l *valueList) add(text string) {
	if text = tidy(text); text != "" && len(l.items) < 100 {
		l.items = append(l.items, text)
	}
}

// first returns the first value, or "". If a property has a value for each language, x-default is the first.
func (l *valueList) first() string {
	if len(l.items) == 0 {
		return ""
	}
	return l.items[0]
}

// rdfDepth returns the depth of an element within rdf:RDF, which itself has depth 1; 0 outside of it.
func rdfDepth(path []xml.Name) int {
	for i, name := range path {
		if name.Space == nsRDF && name.Local == "RDF" {
			return len(path) - i
		}
	}
	return 0
}

// markSensitive sets HasLocation or HasSerial for a property with a location or a serial number.
func (i *Info) markSensitive(name xml.Name) {
	switch {
	case strings.HasSuffix(name.Local, "SerialNumber"):
		i.HasSerial = true
	case strings.HasPrefix(name.Local, "GPS"),
		name.Space == nsPhotoshop && (name.Local == "City" || name.Local == "State" || name.Local == "Country"),
		name.Local == "Location", name.Local == "LocationCreated", name.Local == "LocationShown":
		i.HasLocation = true
	}
}

// RightsXMP returns an XMP packet with only dc:creator and dc:rights; nil if both are empty.
func RightsXMP(creator, rights string) []byte {
	return makeXMP(&Info{Creator: creator, Rights: rights})
}

// makeXMP returns an XMP packet with the creator, the rights and rightsProperties; nil if all are empty.
func makeXMP(info *Info) []byte {
	var b strings.Builder
	text := func(s string) string {
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(s)) // a bytes.Buffer does not fail
		return e.String()
	}
	alternative := func(name, s string) {
		fmt.Fprintf(&b, `<%s><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></%s>`, name, text(s), name)
	}
	if info.Creator != "" {
		b.WriteString(`<dc:creator><rdf:Seq>`)
		for name := range strings.SplitSeq(info.Creator, ";") {
			fmt.Fprintf(&b, `<rdf:li>%s</rdf:li>`, text(strings.TrimSpace(name)))
		}
		b.WriteString(`</rdf:Seq></dc:creator>`)
	}
	if info.Rights != "" {
		alternative("dc:rights", info.Rights)
	}
	spaces := [][2]string{{"dc", nsDC}}
	for i, p := range rightsProperties {
		if info.otherRights[i] == "" {
			continue
		}
		if last := spaces[len(spaces)-1]; last[0] != p.prefix {
			spaces = append(spaces, [2]string{p.prefix, p.namespace})
		}
		name := p.prefix + ":" + p.name
		if p.isAlt {
			alternative(name, info.otherRights[i])
		} else {
			fmt.Fprintf(&b, `<%s>%s</%s>`, name, text(info.otherRights[i]), name)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	out := "<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>" +
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="` + nsRDF + `"><rdf:Description rdf:about=""`
	for _, s := range spaces {
		out += fmt.Sprintf(` xmlns:%s="%s"`, s[0], s[1])
	}
	return []byte(out + ">" + b.String() + `</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="r"?>`)
}
