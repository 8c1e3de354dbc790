package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// writeComponents writes what the programs are made of, as CycloneDX: the Go modules that the linker has recorded in them, and
// the site's packages.
func writeComponents(out, npm string, programs []program, version string, date time.Time) error {
	components, err := sitePackages(npm)
	if err != nil {
		return err
	}
	for _, p := range programs {
		modules, err := modulesOf(p.file)
		if err != nil {
			return err
		}
		components = append(components, modules...)
	}
	byURL := func(a, b cdx.Component) int { return cmp.Compare(a.PackageURL, b.PackageURL) }
	slices.SortStableFunc(components, byURL)
	components = slices.CompactFunc(components, func(a, b cdx.Component) bool { return byURL(a, b) == 0 })
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte("atelie "+version+" "+date.String())).String()
	bom.Metadata = &cdx.Metadata{
		Timestamp: date.Format(time.RFC3339),
		Component: &cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "atelie", Name: "atelie", Version: version,
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}},
	}
	bom.Components = &components
	var text bytes.Buffer
	if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(out, text.Bytes(), 0o644)
}

// modulesOf lists the Go modules in a program, the standard library among them.
func modulesOf(file string) ([]cdx.Component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list := []cdx.Component{library("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, library(m.Path, m.Version))
	}
	return list, nil
}

func library(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: path, Version: version, PackageURL: url}
}

// sitePackages reads the components of the document that npm has written.
func sitePackages(file string) ([]cdx.Component, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return nil, err
	}
	if bom.Components == nil {
		return nil, nil
	}
	for i := range *bom.Components {
		(*bom.Components)[i].Properties = nil // paths in node_modules
	}
	return *bom.Components, nil
}

func sha256Of(file string) (string, error) {
	text, err := os.ReadFile(file)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
