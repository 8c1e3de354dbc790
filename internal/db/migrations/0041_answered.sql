-- When a message was answered: the time at which its status became 'replied', null while it is another one. Triggers set it, whoever
-- changes the status. Messages that were answered before have no such time, and do not count.
alter table contact_submissions add column answered_at {{.timestamp}};
create index contact_submissions_answered on contact_submissions (answered_at desc) where answered_at is not null;

-- Within how many hours messages are usually answered; null: too few were. The server writes it (internal/settings/response_time.go),
-- and only when it changes: pages show it, so each change raises the content version.
create table response_time (
  id {{.int}} primary key not null check (id = 1),
  hours {{.int}} check (hours > 0)
) {{.strict}};
{{if .postgres}}
create function atelie_message_answered() returns trigger language plpgsql as $$
begin
  new.answered_at := case when new.status = 'replied' then clock_timestamp() end;
  return new;
end $$;
create trigger message_answered before update of status on contact_submissions for each row
  when (old.status is distinct from new.status and 'replied' in (old.status, new.status)) execute function atelie_message_answered();
create constraint trigger content_changed after insert or update or delete on response_time deferrable initially deferred for each row execute function atelie_content_changed();
create trigger content_emptied after truncate on response_time for each statement execute function atelie_content_changed();
{{else}}
create trigger contact_submissions_answered after update of status on contact_submissions
  when old.status is not new.status and 'replied' in (old.status, new.status)
begin
  update contact_submissions set answered_at = iif(new.status = 'replied', rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', null)
  where id = new.id;
end;
create trigger response_time_content_insert after insert on response_time begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger response_time_content_update after update on response_time begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger response_time_content_delete after delete on response_time begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
{{end}}
