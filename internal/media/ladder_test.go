package media

import (
	"net/url"
	"strconv"
	"testing"

	"atelie/internal/media/rendition"
)

// TestLadderHasThePortraitCropsOfCovers checks that the stages of a cover include the renditions that portraitCrop of web/src/lib/media.ts
// requests, in both formats.
func TestLadderHasThePortraitCropsOfCovers(t *testing.T) {
	const width, height = 1600, 1067
	for stage, format := range map[int]rendition.Format{stageLadder: rendition.WebP, stageAVIF: rendition.AVIF} {
		inStage := map[string]bool{} // names of the renditions
		for _, r := range recipes(stage, coverBucket, width, height) {
			inStage[r.name] = true
		}
		n := 0
		for _, w := range widths(width, height) {
			if w < 256 || w*5 > height*4 { // portraitCrop requests crops of 4:5 from 256 pixels on, no taller than the picture
				continue
			}
			n++
			wish, err := parseTransform(url.Values{"width": {strconv.Itoa(w)}, "height": {strconv.Itoa((w*5 + 2) / 4)}, "resize": {"cover"}})
			if err != nil {
				t.Fatal(err)
			}
			o := wish.order(width, height, false)
			o.Format = format
			if !inStage[nameOf(o)] {
				t.Errorf("%s is missing", nameOf(o))
			}
		}
		if n < 5 {
			t.Errorf("%d portrait crops", n)
		}
		plain := len(recipes(stage, "product-images", width, height))
		if plain+n != len(inStage) || len(recipes(stage, coverBucket, height, width)) != len(recipes(stage, "product-images", height, width)) {
			t.Errorf("%d renditions of a cover, %d of a work", len(inStage), plain)
		}
	}
}
