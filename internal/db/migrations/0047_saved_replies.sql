-- The list of conversations, and the owner's saved replies.

-- done_at is when the owner marked the conversation as done. last_author, last_text and last_at are of the last reply, null for none: who
-- wrote it, how it begins, and when. Triggers store these three and state, which the list filters by.
alter table contact_submissions add column done_at {{.timestamp}};
alter table contact_submissions add column last_author {{.text}};
alter table contact_submissions add column last_text {{.text}};
alter table contact_submissions add column last_at {{.timestamp}};
alter table contact_submissions add column state {{.text}} not null default 'unread' check (state in ('unread', 'waiting_me', 'waiting_them', 'done'));

update contact_submissions set
  last_author = (select r.author from contact_replies r where r.message_id = contact_submissions.id order by r.created_at desc, r.id desc limit 1),
  last_text = (select substr(r.text, 1, 200) from contact_replies r where r.message_id = contact_submissions.id order by r.created_at desc, r.id desc limit 1),
  last_at = (select r.created_at from contact_replies r where r.message_id = contact_submissions.id order by r.created_at desc, r.id desc limit 1)
where id in (select message_id from contact_replies);
update contact_submissions set state = case when status = 'replied' or last_author = 'owner' then 'waiting_them' else 'waiting_me' end where status <> 'new';
create index contact_submissions_state on contact_submissions (state, created_at desc, id);

create table saved_replies (
  id {{.uuid}} primary key not null,
  title {{.text}} not null,
  text_en {{.text}},
  text_pt {{.text}},
  position {{.text}} not null default '',
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}}
) {{.strict}};

-- A message that is new again is not done. The owner has the last word after an answer by other means too ('replied').
{{if .postgres}}
create function atelie_message_state() returns trigger language plpgsql as $$
begin
  if new.status = 'new' then
    new.done_at := null;
  end if;
  new.state := case when new.status = 'new' then 'unread' when new.done_at is not null then 'done'
    when new.status = 'replied' or new.last_author = 'owner' then 'waiting_them' else 'waiting_me' end;
  return new;
end $$;
create trigger message_state before insert or update of status, done_at, last_author, state on contact_submissions for each row execute function atelie_message_state();

create function atelie_last_reply() returns trigger language plpgsql as $$
declare
  which uuid := case when tg_op = 'DELETE' then old.message_id else new.message_id end;
  r record;
begin
  select author, text, created_at into r from contact_replies where message_id = which and kind <> 'progress' order by created_at desc, id desc limit 1;
  update contact_submissions m set last_author = r.author, last_text = substr(r.text, 1, 200), last_at = r.created_at where m.id = which;
  return null;
end $$;
create trigger last_reply after insert or delete or update of author, text, created_at on contact_replies for each row execute function atelie_last_reply();
{{else}}
create trigger contact_submissions_state_inserted after insert on contact_submissions when new.status <> 'new' or new.done_at is not null or new.state <> 'unread' begin
  update contact_submissions set done_at = iif(status = 'new', null, done_at),
    state = case when status = 'new' then 'unread' when done_at is not null then 'done' when status = 'replied' or last_author = 'owner' then 'waiting_them' else 'waiting_me' end
  where id = new.id;
end;
create trigger contact_submissions_state_updated after update of status, done_at, last_author on contact_submissions begin
  update contact_submissions set done_at = iif(status = 'new', null, done_at),
    state = case when status = 'new' then 'unread' when done_at is not null then 'done' when status = 'replied' or last_author = 'owner' then 'waiting_them' else 'waiting_me' end
  where id = new.id;
end;

create trigger contact_replies_last_inserted after insert on contact_replies begin
  update contact_submissions set (last_author, last_text, last_at) =
    (select author, substr(text, 1, 200), created_at from contact_replies where message_id = new.message_id and kind <> 'progress' order by created_at desc, id desc limit 1)
  where id = new.message_id;
end;
create trigger contact_replies_last_deleted after delete on contact_replies begin
  update contact_submissions set (last_author, last_text, last_at) =
    (select author, substr(text, 1, 200), created_at from contact_replies where message_id = old.message_id and kind <> 'progress' order by created_at desc, id desc limit 1)
  where id = old.message_id;
end;
create trigger contact_replies_last_changed after update of author, text, created_at on contact_replies begin
  update contact_submissions set (last_author, last_text, last_at) =
    (select author, substr(text, 1, 200), created_at from contact_replies where message_id = new.message_id and kind <> 'progress' order by created_at desc, id desc limit 1)
  where id = new.message_id;
end;
{{end}}
