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

// writeComponents writes the list of components (SBOM) in the format CycloneDX: the Go modules that are recorded in the programs, and the
// npm packages in the file npmList.
func writeComponents(out, npmList string, programs []program, version string, date time.Time) error {
	components, err := readSitePackages(npmList)
	if err != nil {
		return err
	}
	for _, p := range programs {
		modules, err := readModules(p.file)
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

// readModules lists the Go modules in a program, including the standard library.
func readModules(file string) ([]cdx.Component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list := []cdx.Component{newLibrary("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, newLibrary(m.Path, m.Version))
	}
	return list, nil
}

// newLibrary returns the component for a Go module.
func newLibrary(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: path, Version: version, PackageURL: url}
}

// readSitePackages reads the site's packages from a file that the npm sbom command has written.
func readSitePackages(file string) ([]cdx.Component, error) {
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

// sha256Of returns the SHA-256 of a file in hexadecimal digits.
func sha256Of(file string) (string, error) {
	text, err := os.ReadFile(file)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
