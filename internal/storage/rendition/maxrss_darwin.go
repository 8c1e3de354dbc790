package rendition

const maxrssUnit = 1
