package tables

import "slices"

// typeNames are the types that a cast may name, by PostgreSQL's words for them.
var typeNames = map[string]Kind{
	"text": Text, "varchar": Text, "character varying": Text,
	"uuid": UUID,
	"bool": Bool, "boolean": Bool,
	"int": Int, "int4": Int, "integer": Int,
	"int8": BigInt, "bigint": BigInt,
	"numeric": Numeric, "decimal": Numeric,
	"float": Double, "float8": Double, "double precision": Double,
	"timestamptz": Timestamp, "timestamp with time zone": Timestamp,
	"timestamp": PlainTimestamp, "timestamp without time zone": PlainTimestamp,
	"date": Date,
	"time": Time, "time without time zone": Time,
	"json": "json", "jsonb": JSON,
	"smallint": "smallint", "int2": "smallint", "real": "real", "float4": "real", "money": "money", "bytea": "bytea",
	"name": "name", "char": "character", "character": "character", "bpchar": "character", "interval": "interval", "timetz": "time with time zone",
	"time with time zone": "time with time zone", "xml": "xml", "inet": "inet", "oid": "oid",
}

// casts are those that hold for every value of a kind and print alike on both engines. PostgreSQL would also try to read
// texts as other types and fail at the first row that is none; here that is refused before a row is read.
var casts = map[Kind][]Kind{
	UUID:      {UUID, Text},
	Text:      {Text},
	Bool:      {Bool, Text, Int},
	Int:       {Int, BigInt, Numeric, Double, Text, Bool},
	Timestamp: {Timestamp, PlainTimestamp, Date, Time, Text},
	Date:      {Date, Timestamp, PlainTimestamp, Text},
	List:      {Text},
	JSON:      {JSON, Text},
}

// castTo gives the kind that a type's name stands for: 42704 when there is none, 42846 when the cast is refused.
func castTo(from Kind, name string) (Kind, error) {
	to, known := typeNames[name]
	switch {
	case !known:
		return "", errUnknownType(name)
	case !slices.Contains(casts[from], to):
		return "", errNoCast(from, to)
	}
	return to, nil
}
