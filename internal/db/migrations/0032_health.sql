-- What the overview tells of the site's health and nothing else stores (internal/health): when the last mail was delivered, since
-- when mails fail, and since when something is missing. cause is the text of the newest failure, without addresses.
create table health_records (
  name {{.text}} primary key not null,
  at {{.timestamp}} not null,
  count {{.bigint}} not null default 1,
  cause {{.text}}
) {{.strict}};

-- The notices that are not sent yet are few.
create index contact_notices_unsent on contact_notices (queued_at) where sent_at is null;
