// Command crosscheck type-checks the program for systems on which no test runs: crosscheck FOLDER SYSTEM/PROCESSOR... It compiles nothing
// and skips the function bodies of other modules, so it takes only seconds.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "crosscheck: give a folder and SYSTEM/PROCESSOR")
		os.Exit(2)
	}
	debug.SetGCPercent(400) // all syntax trees stay in use; frequent garbage collections would take a third of the time
	folder, err := filepath.Abs(os.Args[1])
	for _, target := range os.Args[2:] {
		err = errors.Join(err, check(folder, target))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check type-checks the commands in a folder, and all packages that they import, for a target.
func check(folder, target string) error {
	system, processor, ok := strings.Cut(target, "/")
	if !ok {
		return fmt.Errorf("crosscheck: %q is not SYSTEM/PROCESSOR", target)
	}
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir:        folder,
		Env:        append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		BuildFlags: []string{"-tags=nodynamic"},
		ParseFile: func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
			file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, folder+string(filepath.Separator)) {
				dropBodies(file)
			}
			return file, err
		},
	}, "./cmd/...")
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	var problems []string
	packages.Visit(found, nil, func(p *packages.Package) {
		if !strings.HasPrefix(p.PkgPath, "atelie/") { // without function bodies, packages of other modules have "unused import" errors
			return
		}
		for _, problem := range p.Errors {
			problems = append(problems, target+": "+problem.Error())
		}
	})
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return errors.New(strings.Join(slices.Compact(problems), "\n"))
}

func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
