-- How the parts of the backup are: one row for each kind (database, blobs, snapshot, secret, proof, copy). last_ok_at is the newest
-- moment up to which the part is in its place; error_since is null when the last attempt succeeded. holder is the node that does a
-- part which only one node does at a time.
create table backup_status (
  kind {{.text}} primary key not null,
  last_ok_at {{.timestamp}},
  last_error_at {{.timestamp}},
  error_since {{.timestamp}},
  error {{.text}} not null,
  detail {{.json}} not null,
  holder {{.text}},
  held_until {{.timestamp}}
) {{.strict}};

-- The blobs of the backup: those that wait for their copy (copied_at is null) and those that are there. sha256 and size are of the
-- copied bytes. removed_at: when nothing referred to the blob any more; it stays for as long as the backup remembers.
create table backup_blobs (
  blob_id {{.uuid}} primary key not null,
  sha256 {{.text}} not null,
  size {{.bigint}} not null,
  copied_at {{.timestamp}},
  removed_at {{.timestamp}}
) {{.strict}};
create index backup_blobs_waiting on backup_blobs (blob_id) where copied_at is null;
create index backup_blobs_removed on backup_blobs (removed_at) where removed_at is not null;
