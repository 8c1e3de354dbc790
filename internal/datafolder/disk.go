package datafolder

import "path/filepath"

// SameDisk reports whether two folders are in the same file system, so that both are lost with its disk. A folder that does not exist yet
// is represented by the nearest existing folder above it.
func SameDisk(a, b string) (bool, error) {
	first, err := diskOf(a)
	if err != nil {
		return false, err
	}
	second, err := diskOf(b)
	return first == second, err
}

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
