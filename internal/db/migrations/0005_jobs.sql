-- Work that happens after a commit: mails, text messages. A row is deleted when its work is done. claim names the worker
-- that has it until leased_until; after that another one may take it. payload is sealed, for it carries links and codes.
create table jobs (
  id {{.uuid}} primary key not null,
  kind {{.text}} not null,
  payload {{.bytes}} not null,
  tries {{.int}} not null default 0,
  run_at {{.timestamp}} not null,
  claim {{.uuid}},
  leased_until {{.timestamp}},
  last_error {{.text}},
  failed_at {{.timestamp}},
  created_at {{.timestamp}} not null
) {{.strict}};
create index jobs_due on jobs (run_at, id) where failed_at is null;
create index jobs_failed on jobs (failed_at) where failed_at is not null;
