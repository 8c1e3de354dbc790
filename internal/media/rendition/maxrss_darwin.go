package rendition

// maxrssUnit is the unit of Rusage.Maxrss (the largest memory that a process has used), in bytes: 1 byte on macOS.
const maxrssUnit = 1
