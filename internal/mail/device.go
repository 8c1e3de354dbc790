package mail

import "strings"

// marks name a part of a User-Agent and what people call it. The first that is found counts: most browsers also name
// the ones that they descend from.
type marks []struct{ part, name string }

var browsers = marks{
	{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Vivaldi/", "Vivaldi"},
	{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chromium/", "Chromium"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
}

var systems = marks{
	{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Macintosh", "Mac"}, {"Linux", "Linux"},
}

func (m marks) find(s string) string {
	for _, mark := range m {
		if strings.Contains(s, mark.part) {
			return mark.name
		}
	}
	return ""
}

// describeDevice makes "Firefox, Linux" of a User-Agent; what is no browser is shown as it names itself.
func describeDevice(userAgent string) string {
	browser, system := browsers.find(userAgent), systems.find(userAgent)
	if browser == "" || system == "" {
		return oneLine(userAgent, 120)
	}
	return browser + ", " + system
}
