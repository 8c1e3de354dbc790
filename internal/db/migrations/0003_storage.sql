-- Buckets and what lies in them. The bytes are on disk under blob_id, so that a name never becomes a path.
create table storage_buckets (
  id {{.text}} primary key not null,
  name {{.text}} not null unique,
  public {{.bool}} not null default {{.true}},
  file_size_limit {{.bigint}},
  allowed_mime_types {{.json}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null
) {{.strict}};

create table storage_objects (
  id {{.uuid}} primary key not null,
  bucket_id {{.text}} not null references storage_buckets (id),
  name {{.text}} not null check (length(name) between 1 and 1024),
  blob_id {{.uuid}} not null unique,
  size {{.bigint}} not null check (size >= 0),
  mime_type {{.text}} not null,
  etag {{.text}} not null,
  cache_control {{.text}} not null,
  owner_id {{.uuid}},
  user_metadata {{.json}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null,
  unique (bucket_id, name)
) {{.strict}};

-- Files on disk that no object refers to: written down before a new file takes its place and together with the removal
-- of an object, struck out once the row or the file's end is certain. So a crash never leaves a file forgotten.
create table storage_trash (
  blob_id {{.uuid}} primary key not null,
  since {{.timestamp}} not null
) {{.strict}};
