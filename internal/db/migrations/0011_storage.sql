-- Buckets whose limits the owner has set stand as they are; the others follow the program's settings.
alter table storage_buckets add column own_limits {{.bool}} not null default {{.false}};

-- Signed upload addresses that were used, until they would have ended anyway.
create table storage_used_tokens (
  id {{.uuid}} primary key not null,
  expires_at {{.timestamp}} not null
) {{.strict}};

-- One row that uploads lock in turn while they are counted against the quota.
create table storage_quota_lock (
  id {{.int}} primary key not null check (id = 1)
) {{.strict}};
insert into storage_quota_lock (id) values (1);
