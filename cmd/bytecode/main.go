// Command bytecode compiles a script of the site to the bytecode of the JavaScript engine: the script that renders pages on the server. The
// program atelie embeds the result. scripts/bytecode.sh runs this command in the build. Its arguments are the file to read and the file to
// write:
//
//	bytecode SCRIPT BYTECODE
package main

import (
	"fmt"
	"os"

	"atelie/internal/pages/render/bytecode"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bytecode SCRIPT BYTECODE")
		os.Exit(2)
	}
	if err := compile(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bytecode:", err)
		os.Exit(1)
	}
}

// compile compiles the script in the file scriptPath, and writes the bytecode to the file bytecodePath.
func compile(scriptPath, bytecodePath string) error {
	script, err := os.ReadFile(scriptPath)
	if err != nil {
		return err
	}
	packed, err := bytecode.Compile(string(script))
	if err != nil {
		return fmt.Errorf("%s: %w", scriptPath, err)
	}
	return os.WriteFile(bytecodePath, packed, 0o644)
}
