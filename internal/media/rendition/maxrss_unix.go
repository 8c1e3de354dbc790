//go:build unix && !darwin

package rendition

// maxrssUnit is the unit of Rusage.Maxrss (the largest memory that a process has used), in bytes: 1 KiB on these systems.
const maxrssUnit = 1024
