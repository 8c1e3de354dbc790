package datafolder

import "path/filepath"

// SameDisk reports whether two folders are in the same file system. The server calls it for the data folder and the folder of the backup:
// a failure of their disk would destroy both. For a folder that does not exist yet, SameDisk checks the nearest existing parent folder.
func SameDisk(a, b string) (bool, error) {
	first, err := diskOf(a)
	if err != nil {
		return false, err
	}
	second, err := diskOf(b)
	return first == second, err
}

// diskOf returns an identifier of the file system of a folder, or of its nearest existing parent folder.
func diskOf(dir string) (string, error) {
	for {
		id, err := fileSystemID(dir)
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return id, err
		}
		dir = parent
	}
}
