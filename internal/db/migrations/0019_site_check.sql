-- What tells at the start that the secret and the place for files are those that this database was used with. A secret is
-- accepted when its fingerprint is here; several may be, while one replaces another. The marker of row 1 is written into
-- the place for files too.
create table secret_fingerprints (
  fingerprint {{.text}} primary key not null,
  created_at {{.timestamp}} not null
) {{.strict}};
create table storage_marker (
  id {{.int}} primary key not null,
  marker {{.uuid}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};
