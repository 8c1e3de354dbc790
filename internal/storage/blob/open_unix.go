//go:build unix

package blob

import "os"

// openFile opens a file that can be renamed and removed while it is open.
func openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
