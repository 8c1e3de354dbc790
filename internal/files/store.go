package files

// StoredFiles is the SQL of a subquery that lists all files of the site: the objects, their originals (the uploads that were published as
// copies without metadata) and their renditions (pictures in other sizes and formats). The columns are id (of the blob, the stored bytes),
// name (for messages), etag (SHA-256 of the bytes) and size. Copies of the site and backups contain exactly these files, so the subquery
// must cover each table that refers to blobs.
const StoredFiles = `(select blob_id as id, bucket_id || '/' || name as name, etag, size from storage_objects
	union all select m.original_id, o.bucket_id || '/' || o.name || ', original', m.original_etag, m.original_size
		from media m join storage_objects o on o.id = m.object_id where m.original_id is not null
	union all select r.blob_id, o.bucket_id || '/' || o.name || ', ' || r.name, r.etag, r.size
		from media_renditions r join storage_objects o on o.id = r.object_id) as files`
