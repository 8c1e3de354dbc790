-- A flood of messages (internal/functions/flood.go): those beyond what an hour may bring wait in quarantine. cause is field
-- when the hidden field was filled in, flood otherwise.
alter table contact_quarantine add column cause {{.text}} not null default 'field' check (cause in ('field', 'flood'));
create index contact_quarantine_flood on contact_quarantine (created_at) where cause = 'flood';

-- Notices of one receiver that wait for one mail or call together (internal/functions/digest.go). The row goes when that
-- begins; what comes later opens another one.
create table contact_digests (
  id {{.uuid}} primary key not null,
  channel {{.text}} not null,
  recipient {{.text}} not null,
  due_at {{.timestamp}} not null,
  unique (channel, recipient)
) {{.strict}};
alter table contact_notices add column digest_id {{.uuid}};
create index contact_notices_digest on contact_notices (digest_id) where digest_id is not null;

-- The message that a job is about, so that the job goes with it.
alter table jobs add column about {{.uuid}};
create index jobs_about on jobs (about) where about is not null;
