package media

import (
	"net/url"
	"strconv"
	"testing"

	"atelie/internal/media/rendition"
)

// TestPhonesFindTheirCutOfACover: the ladder of a cover includes the renditions that uprightCut of web/src/lib/media.ts
// requests.
func TestPhonesFindTheirCutOfACover(t *testing.T) {
	const width, height = 1600, 1067
	there := map[string]bool{}
	for _, r := range recipes(stageLadder, coverBucket, width, height) {
		there[r.name] = true
	}
	n := 0
	for _, w := range widths(width, height) {
		if w < 256 || w*5 > height*4 {
			continue
		}
		n++
		wish, err := readTransform(url.Values{"width": {strconv.Itoa(w)}, "height": {strconv.Itoa((w*5 + 2) / 4)}, "resize": {"cover"}})
		if err != nil {
			t.Fatal(err)
		}
		o := wish.order(width, height, false)
		o.Format = rendition.WebP
		if !there[nameOf(o)] {
			t.Errorf("%s is not there", nameOf(o))
		}
	}
	if n < 5 {
		t.Errorf("%d cuts", n)
	}
	plain := len(recipes(stageLadder, "product-images", width, height))
	if plain+n != len(there) || len(recipes(stageLadder, coverBucket, height, width)) != len(recipes(stageLadder, "product-images", height, width)) {
		t.Errorf("%d renditions of a cover, %d of a work", len(there), plain)
	}
}
