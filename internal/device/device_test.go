package device

import "testing"

func TestParse(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":                                   "Chrome, Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1": "Safari, iPhone",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0":               "Edge, Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 14.0; rv:140.0) Gecko/20100101 Firefox/140.0":                                                     "Firefox, Mac",
		"Mozilla/5.0 (Linux; Android 15) Chrome/142.0 Mobile Safari/537.36":                                                                       "Chrome, Android",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":                          "Chrome, ChromeOS",
		"Firefox/142.0":      "Firefox",
		"backup/1.0 (Linux)": "backup/1.0 (Linux)",
		"curl/8.9":           "curl/8.9",
		"":                   "",
	} {
		if got := Parse(agent).String(); got != want {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
	}
}
