package datafolder

import "path/filepath"

// SameDisk reports whether two folders are in the same file system. If so, both are lost when its disk fails. For a folder that does not
// exist yet, it looks at the nearest existing folder above.
func SameDisk(a, b string) (bool, error) {
	first, err := diskOf(a)
	if err != nil {
		return false, err
	}
	second, err := diskOf(b)
	return first == second, err
}

// diskOf returns what identifies the file system of a folder, or of the nearest existing folder above it.
func diskOf(dir string) (string, error) {
	for {
		id, err := disk(dir)
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return id, err
		}
		dir = parent
	}
}
