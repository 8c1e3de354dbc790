-- What the owner is told of a new message, one row a way and receiver (internal/functions/notice.go). channel is plan
-- (nobody has looked yet whom to tell), mail, webhook or thanks. They go with their message.
create table contact_notices (
  id {{.uuid}} primary key not null,
  message_id {{.uuid}} not null references contact_submissions (id) on delete cascade,
  channel {{.text}} not null,
  recipient {{.text}} not null,
  language {{.text}} not null,
  queued_at {{.timestamp}} not null,
  sent_at {{.timestamp}},
  failed_at {{.timestamp}},
  last_error {{.text}},
  unique (message_id, channel, recipient)
) {{.strict}};

-- Whom a thank-you mail went to within a day, as a hash of the address: a form must not fill a stranger's mailbox.
create table contact_thanked (
  subject {{.text}} primary key not null,
  sent_at {{.timestamp}} not null
) {{.strict}};
create index contact_thanked_age on contact_thanked (sent_at);
