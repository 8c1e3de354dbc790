package files

// StoredFiles is the SQL of a subquery, named files, that lists all files to which rows refer: the blobs of objects, originals and
// renditions. Its columns are id, name, etag and size. A table that begins to refer to blobs is added here, and copies and backups
// then include its files.
const StoredFiles = `(select blob_id as id, bucket_id || '/' || name as name, etag, size from storage_objects
	union all select m.original_id, o.bucket_id || '/' || o.name || ', as it came', m.original_etag, m.original_size
		from media m join storage_objects o on o.id = m.object_id where m.original_id is not null
	union all select r.blob_id, o.bucket_id || '/' || o.name || ', ' || r.name, r.etag, r.size
		from media_renditions r join storage_objects o on o.id = r.object_id) as files`
