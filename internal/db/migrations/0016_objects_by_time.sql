-- A bucket's newest files are read from an index, as many as a page has. Listings below a prefix go by the names.
create index storage_objects_created on storage_objects (bucket_id, created_at, name);
create index storage_objects_updated on storage_objects (bucket_id, updated_at, name);
