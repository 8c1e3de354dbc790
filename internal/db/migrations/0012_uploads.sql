-- Resumable uploads (TUS) on their way, and those that became an object, until they expire. stored is what the blob store
-- has of it, hash the running SHA-256 of those bytes. lock_token names the request that has the upload until
-- locked_until; lock_wanted asks it to let go.
create table storage_uploads (
  id {{.uuid}} primary key not null,
  blob_id {{.uuid}} not null unique,
  owner {{.text}} not null,
  bucket_id {{.text}} not null,
  name {{.text}} not null,
  upsert {{.bool}} not null,
  size {{.bigint}} not null check (size > 0),
  content_type {{.text}} not null,
  cache_control {{.text}} not null,
  user_metadata {{.text}} not null,
  received {{.bigint}} not null,
  stored {{.text}} not null,
  hash {{.bytes}},
  finished {{.bool}} not null default {{.false}},
  created_at {{.timestamp}} not null,
  expires_at {{.timestamp}} not null,
  lock_token {{.uuid}},
  locked_until {{.timestamp}},
  lock_wanted {{.bool}} not null default {{.false}}
) {{.strict}};
create index storage_uploads_expiry on storage_uploads (expires_at);
