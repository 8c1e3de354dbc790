package metadata

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"
)

func TestCleanKeepsPixelsTurnAndRights(t *testing.T) {
	var b bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 32, 16))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Clean(&out, bytes.NewReader(b.Bytes()), "image/jpeg"); err != nil {
		t.Fatal(err)
	}
	if _, err := jpeg.Decode(&out); err != nil {
		t.Fatal(err)
	}
}
