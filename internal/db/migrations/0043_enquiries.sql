-- The conversation about a message, and the private link at which the visitor follows it (internal/functions/enquiry_page.go).

-- language is that of the form, null for messages that were sent before. read_at is when the status stopped being 'new'; a trigger sets it.
alter table contact_submissions add column language {{.text}} check (language in ('en', 'pt'));
alter table contact_submissions add column read_at {{.timestamp}};
alter table contact_quarantine add column language {{.text}} check (language in ('en', 'pt'));

-- What visitor and owner have written after the message. delivery is the state of the mail with an owner's reply, none for replies that
-- are not mailed; delivery_at is when it changed.
create table contact_replies (
  id {{.uuid}} primary key not null,
  message_id {{.uuid}} not null references contact_submissions (id) on delete cascade,
  author {{.text}} not null check (author in ('visitor', 'owner')),
  text {{.text}} not null,
  created_at {{.timestamp}} not null,
  delivery {{.text}} not null default 'none' check (delivery in ('none', 'queued', 'sent', 'failed')),
  delivery_at {{.timestamp}},
  delivery_error {{.text}}
) {{.strict}};
create index contact_replies_message on contact_replies (message_id, created_at, id);

-- token_hash is the SHA-256 of the link's token, in hex. The token is made of nonce and a key that is not in the database, so that a mail
-- can repeat the link. Exactly one of message_id and quarantine_id is set.
create table contact_links (
  token_hash {{.text}} primary key not null,
  nonce {{.text}} not null,
  message_id {{.uuid}} unique references contact_submissions (id) on delete cascade,
  quarantine_id {{.uuid}} unique references contact_quarantine (id) on delete cascade,
  created_at {{.timestamp}} not null,
  expires_at {{.timestamp}} not null
) {{.strict}};
create index contact_links_age on contact_links (expires_at);

-- Notices about a visitor's reply: reply_id is null for those about the message itself.
{{if .postgres}}
alter table contact_notices add column reply_id uuid references contact_replies (id) on delete cascade;
alter table contact_notices drop constraint contact_notices_message_id_channel_recipient_key;
{{else}}
alter table contact_notices rename to contact_notices_old;
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
  digest_id {{.uuid}},
  reply_id {{.uuid}} references contact_replies (id) on delete cascade
) {{.strict}};
insert into contact_notices (id, message_id, channel, recipient, language, queued_at, sent_at, failed_at, last_error, digest_id)
select id, message_id, channel, recipient, language, queued_at, sent_at, failed_at, last_error, digest_id from contact_notices_old;
drop table contact_notices_old;
create index contact_notices_digest on contact_notices (digest_id) where digest_id is not null;
{{end}}
create unique index contact_notices_once on contact_notices (message_id, channel, recipient, (coalesce(reply_id, message_id)));
create index contact_notices_reply on contact_notices (reply_id) where reply_id is not null;

-- In a conversation the first answer is what the response time counts: answered_at stays when the visitor writes again.
{{if .postgres}}
create or replace function atelie_message_answered() returns trigger language plpgsql as $$
begin
  if old.answered_at is null or not exists (select 1 from contact_replies r where r.message_id = new.id) then
    new.answered_at := case when new.status = 'replied' then clock_timestamp() end;
  end if;
  return new;
end $$;
create function atelie_message_read() returns trigger language plpgsql as $$
begin
  new.read_at := case when new.status <> 'new' then clock_timestamp() end;
  return new;
end $$;
create trigger message_read before update of status on contact_submissions for each row
  when (old.status is distinct from new.status and 'new' in (old.status, new.status)) execute function atelie_message_read();
{{else}}
drop trigger contact_submissions_answered;
create trigger contact_submissions_answered after update of status on contact_submissions
  when old.status is not new.status and 'replied' in (old.status, new.status)
    and (old.answered_at is null or not exists (select 1 from contact_replies where message_id = new.id))
begin
  update contact_submissions set answered_at = iif(new.status = 'replied', rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', null)
  where id = new.id;
end;
create trigger contact_submissions_read after update of status on contact_submissions
  when old.status is not new.status and 'new' in (old.status, new.status)
begin
  update contact_submissions set read_at = iif(new.status = 'new', null, rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00')
  where id = new.id;
end;
{{end}}
