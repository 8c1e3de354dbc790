package files

// StoredFiles is the SQL of a subquery that lists all files of the site: the objects, their originals (the uploads behind copies without
// metadata) and their renditions. Its columns are id (of the blob, the stored bytes), name (for messages), etag and size. Copies of the
// site and backups contain these files, so each table that refers to blobs must be in the subquery.
const StoredFiles = `(select blob_id as id, bucket_id || '/' || name as name, etag, size from storage_objects
	union all select m.original_id, o.bucket_id || '/' || o.name || ', original', m.original_etag, m.original_size
		from media m join storage_objects o on o.id = m.object_id where m.original_id is not null
	union all select r.blob_id, o.bucket_id || '/' || o.name || ', ' || r.name, r.etag, r.size
		from media_renditions r join storage_objects o on o.id = r.object_id) as files`
