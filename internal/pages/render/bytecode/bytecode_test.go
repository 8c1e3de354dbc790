package bytecode

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

func TestCompile(t *testing.T) {
	const script = `globalThis.greet = (name) => "hello " + name; // a remark`
	first, err := Compile(script)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Compile(script)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the same script gives other bytecode: %v", err)
	}
	bytecode, err := io.ReadAll(brotli.NewReader(bytes.NewReader(first)))
	if err != nil || !bytes.Contains(bytecode, []byte("hello ")) || bytes.Contains(bytecode, []byte("remark")) {
		t.Errorf("%q, %v; want the script's texts without its source", bytecode, err)
	}
	if _, err := Compile("let let"); err == nil || !strings.Contains(err.Error(), "SyntaxError") {
		t.Errorf("a script that does not compile: %v", err)
	}
}
