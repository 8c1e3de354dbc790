package rendition

// maxrssUnit is the unit of Rusage.Maxrss, the peak of a process's memory: bytes on macOS.
const maxrssUnit = 1
