//go:build unix && !darwin

package rendition

// maxrssUnit is the unit of Rusage.Maxrss, the peak of a process's memory, in bytes: 1 KiB on these systems.
const maxrssUnit = 1024
