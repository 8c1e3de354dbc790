// Package device finds the browser and the operating system in a User-Agent header, for mails about sign-ins, the list of sessions, and the
// activity log.
package device

import "strings"

// Device is the browser and the operating system that a User-Agent names, such as Firefox and Linux. System is "" if the system
// is unknown. If the browser is unknown, only Program is set: the whole header, which can contain any text.
type Device struct {
	Browser string `json:"browser,omitempty"`
	System  string `json:"system,omitempty"`
	Program string `json:"program,omitempty"`
}

// patterns lists substrings of User-Agents, each with the name that people know. The first substring that a User-Agent contains decides. The
// order matters, because most User-Agents also contain the names of other browsers: the User-Agent of Edge contains Chrome and Safari.
type patterns []struct{ substring, name string }

var browsers = patterns{
	{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"},
	{"OPR/", "Opera"}, {"Opera", "Opera"},
	{"SamsungBrowser", "Samsung Internet"},
	{"Vivaldi/", "Vivaldi"},
	{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"}, {"Chromium/", "Chromium"}, {"Chrome/", "Chrome"},
	{"Safari/", "Safari"},
}

var systems = patterns{
	{"iPhone", "iPhone"}, {"iPad", "iPad"},
	{"Android", "Android"},
	{"CrOS", "ChromeOS"},
	{"Windows", "Windows"},
	{"Macintosh", "Mac"}, {"Mac OS X", "Mac"},
	{"Linux", "Linux"},
}

// find returns the name of the first pattern whose substring the User-Agent contains, or "" if there is none.
func (p patterns) find(userAgent string) string {
	for _, pattern := range p {
		if strings.Contains(userAgent, pattern.substring) {
			return pattern.name
		}
	}
	return ""
}

// Parse reads a User-Agent header. It returns the zero Device for "".
func Parse(userAgent string) Device {
	browser := browsers.find(userAgent)
	if browser == "" {
		return Device{Program: userAgent}
	}
	return Device{Browser: browser, System: systems.find(userAgent)}
}

// String returns browser and system, such as "Firefox, Linux", or Program if the browser is unknown.
func (d Device) String() string {
	switch {
	case d.Browser == "":
		return d.Program
	case d.System == "":
		return d.Browser
	}
	return d.Browser + ", " + d.System
}
