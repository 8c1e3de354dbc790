//go:build !unix

package rendition

import "os"

// peakOf returns 0, because this system does not report the peak.
func peakOf(*os.ProcessState) int64 { return 0 }
