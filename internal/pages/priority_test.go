package pages

import (
	"strings"
	"testing"
)

func TestScriptsWaitForThePicture(t *testing.T) {
	m := manifest{startModule: {File: "assets/start-1.js"}}
	page := `<script type="application/json" id="boot">{}</script><script type="module" crossorigin src="/a.js"></script><link rel="stylesheet" href="/c.css"><link rel="modulepreload" crossorigin href="/b.js"></head>`
	want := `<script type="application/json" id="boot">{}</script><script type="module" crossorigin src="/assets/start-1.js" data-site="/a.js /b.js"></script><link rel="stylesheet" href="/c.css"></head>`
	if got := string(m.afterPicture([]byte(page))); got != want {
		t.Errorf("%s", got)
	}
	if got := string(m.afterPicture([]byte("<head></head>"))); got != "<head></head>" {
		t.Errorf("nothing waits, yet %s", got)
	}
}

func TestTheUrgentPictureIsNamedForEachShapeOfScreen(t *testing.T) {
	drawn := `<main><picture class="contents"><source media="(max-aspect-ratio:3/5)" srcSet="/p?a=1&amp;b=2 256w" sizes="1px" width="4" height="5"/><img srcSet="/q 400w" sizes="2px" src="/r" alt="" fetchPriority="high"/></picture>`
	want := `<link rel="preload" as="image" media="(max-aspect-ratio:3/5)" imagesrcset="/p?a=1&amp;b=2 256w" imagesizes="1px" fetchpriority="high">` +
		`<link rel="preload" as="image" media="not all and (max-aspect-ratio:3/5)" imagesrcset="/q 400w" imagesizes="2px" fetchpriority="high">`
	if got := urgentPicture(drawn); got != want {
		t.Errorf("%s", got)
	}
	if got := urgentPicture(strings.Replace(drawn, ` fetchPriority="high"`, "", 1)); got != "" {
		t.Errorf("nothing is urgent, yet %s", got)
	}
	if got := string(withUrgent([]byte("<head><style>a</style></head>"), "<link>")); got != "<head><link><style>a</style></head>" {
		t.Error(got)
	}
	if got := string(withUrgent([]byte("<head><noscript><style>b</style></noscript><style>a</style></head>"), "<link>")); got != "<head><noscript><style>b</style></noscript><link><style>a</style></head>" {
		t.Error(got)
	}
	if got := string(withUrgent([]byte("<head><noscript><style>b</style></noscript></head>"), "<link>")); got != "<head><noscript><style>b</style></noscript><link></head>" {
		t.Error(got)
	}
	if got := string(withUrgent([]byte("<head></head>"), "<link>")); got != "<head><link></head>" {
		t.Error(got)
	}
}
