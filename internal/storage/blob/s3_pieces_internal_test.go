package blob

import (
	"bytes"
	"fmt"
	"testing"
	"testing/iotest"
)

func TestJoinedReaderReadsBothSlices(t *testing.T) {
	long := bytes.Repeat([]byte("abcdefghij"), 1000)
	for _, c := range [][2][]byte{{nil, nil}, {nil, []byte("ab")}, {[]byte("ab"), nil}, {[]byte("a"), []byte("bc")}, {long[:7777], long[7777:]}} {
		t.Run(fmt.Sprint(len(c[0]), "+", len(c[1])), func(t *testing.T) {
			body := newJoinedReader(c[0], c[1])
			if want := int64(len(c[0]) + len(c[1])); body.Size() != want {
				t.Errorf("size %d, want %d", body.Size(), want)
			}
			if err := iotest.TestReader(body, append(bytes.Clone(c[0]), c[1]...)); err != nil {
				t.Error(err)
			}
		})
	}
}
