package datafolder

import "path/filepath"

// SameDisk reports whether two folders are on one disk, which means one file system, and are lost together. For a folder that does not
// exist yet, the nearest existing one that contains it counts.
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
