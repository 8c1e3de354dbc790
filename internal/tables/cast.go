package tables

// This file lists the casts that a query can have in select (column::type).

// kindsByName maps the names of PostgreSQL's types to kinds (the types of columns and values, see schema.go). It also contains types to
// which no column can be cast, because PostgreSQL's error for them differs from the error for an unknown type. The kinds of these types are
// only names for the error.
var kindsByName = map[string]Kind{
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
	"jsonb": JSON,
	// No column can be cast to these:
	"json": "json", "smallint": "smallint", "int2": "smallint", "real": "real", "float4": "real", "money": "money", "bytea": "bytea",
	"name": "name", "char": "character", "character": "character", "bpchar": "character", "interval": "interval", "timetz": "time with time zone",
	"time with time zone": "time with time zone", "xml": "xml", "inet": "inet", "oid": "oid",
}

// allowedCasts maps each kind of column to the kinds to which it can be cast. These casts work for every value, and their results are the
// same text on SQLite and PostgreSQL. PostgreSQL also casts a text to other types, and fails at the first row whose text does not fit. This
// server rejects such a cast before it reads any row.
var allowedCasts = map[Kind][]Kind{
	UUID:      {UUID, Text},
	Text:      {Text},
	Bool:      {Bool, Text, Int},
	Int:       {Int, BigInt, Numeric, Double, Text, Bool},
	Timestamp: {Timestamp, PlainTimestamp, Date, Time, Text},
	Date:      {Date, Timestamp, PlainTimestamp, Text},
	List:      {Text},
	JSON:      {JSON, Text},
}
