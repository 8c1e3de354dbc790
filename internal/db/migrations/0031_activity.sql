-- Who changed what, and when: an entry for each change of content, of roles, keys and secrets, and for each export. Revisions
-- (row_history) hold what rows were and go after 30 days; an entry holds the name alone and stays for 400. Sign-ins are in
-- auth_audit_log. Triggers write the entries in the transaction of the change; those of exports come from internal/functions.
-- They write nothing while a copy fills the database (atelie_copy exists): the copy brings the entries of its source.
-- table_name and row_id name the row, or the account whose role changed; number is a key's generation, or how many messages.
create table activity (
  id {{.serial}},
  created_at {{.timestamp}} not null,
  kind {{.text}} not null check (kind in ('change', 'export', 'key')),
  action {{.text}} not null,
  actor {{.uuid}},
  table_name {{.text}},
  row_id {{.uuid}},
  title {{.text}},
  number {{.int}}
) {{.strict}};
create index activity_newest on activity (created_at, id);
create index activity_kind on activity (kind, created_at, id);
-- The messages that one statement deletes are one entry.
create unique index activity_messages on activity (created_at, (coalesce(cast(actor as text), ''))) where table_name = 'contact_submissions';

-- What the revisions of the last 30 days tell.
insert into activity (created_at, kind, action, actor, table_name, row_id, title)
select changed_at, 'change', action, actor, table_name, {{if .postgres}}cast(case when table_name <> 'site_settings' then row_id end as uuid){{else}}iif(table_name <> 'site_settings', row_id, null){{end}},
  case table_name when 'site_settings' then row_id when 'reviews' then row_before ->> 'client_name' else row_before ->> 'title' end
from row_history order by id;
{{if .postgres}}
create function atelie_add_activity(kind text, action text, table_name text, row_id uuid, title text, number integer) returns void language sql as $$
  insert into activity (created_at, kind, action, actor, table_name, row_id, title, number)
  values (clock_timestamp(), $1, $2, cast(nullif(current_setting('atelie.actor', true), '') as uuid), $3, $4, $5, $6)
$$;
create function atelie_record_activity() returns trigger language plpgsql as $$
begin
  if to_regclass('atelie_copy') is not null then
    return null;
  end if;
  case tg_table_name
  when 'row_history' then
    if new.table_name = 'site_settings' then
      perform atelie_add_activity('change', new.action, new.table_name, null, new.row_id, null);
    else
      perform atelie_add_activity('change', new.action, new.table_name, cast(new.row_id as uuid), case new.table_name
        when 'products' then coalesce((select p.title from products p where p.id = cast(new.row_id as uuid)), new.row_before ->> 'title')
        when 'reviews' then coalesce((select r.client_name from reviews r where r.id = cast(new.row_id as uuid)), new.row_before ->> 'client_name')
        else coalesce((select c.title from cover_images c where c.id = cast(new.row_id as uuid)), new.row_before ->> 'title')
      end, null);
    end if;
  when 'products', 'cover_images' then
    perform atelie_add_activity('change', 'insert', tg_table_name, new.id, new.title, null);
  when 'reviews' then
    perform atelie_add_activity('change', 'insert', tg_table_name, new.id, new.client_name, null);
  when 'site_settings' then
    perform atelie_add_activity('change', 'update', tg_table_name, null, new.key, null);
  when 'contact_submissions' then
    insert into activity (created_at, kind, action, actor, table_name, number)
    values (statement_timestamp(), 'change', 'delete', cast(nullif(current_setting('atelie.actor', true), '') as uuid), tg_table_name, 1)
    on conflict (created_at, (coalesce(cast(actor as text), ''))) where table_name = 'contact_submissions' do update set number = activity.number + 1;
  when 'user_roles' then
    if tg_op = 'DELETE' then
      perform atelie_add_activity('key', 'role_removed', tg_table_name, old.user_id, old.role, null);
    else
      perform atelie_add_activity('key', 'role_given', tg_table_name, new.user_id, new.role, null);
    end if;
  when 'access_keys' then
    if tg_op = 'INSERT' and new.created_at is not null then
      perform atelie_add_activity('key', 'key_made', tg_table_name, null, new.role, new.generation);
    end if;
    if new.revoked_at is not null and (tg_op = 'INSERT' or old.revoked_at is null) then
      perform atelie_add_activity('key', 'key_revoked', tg_table_name, null, new.role, new.generation);
    end if;
  when 'secret_fingerprints' then
    if tg_op = 'INSERT' and exists (select 1 from secret_fingerprints f where f.fingerprint <> new.fingerprint) then
      perform atelie_add_activity('key', 'secret_changed', null, null, null, null);
    elsif tg_op = 'DELETE' and exists (select 1 from secret_fingerprints) then
      perform atelie_add_activity('key', 'secret_forgotten', null, null, null, null);
    end if;
  end case;
  return null;
end $$;
create trigger activity after insert on row_history for each row execute function atelie_record_activity();
create trigger activity after insert on products for each row execute function atelie_record_activity();
create trigger activity after insert on reviews for each row execute function atelie_record_activity();
create trigger activity after insert on cover_images for each row execute function atelie_record_activity();
create trigger activity after insert on site_settings for each row
  when (new.key = 'site' or new.key in ('notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled') and cast(new.value as text) not in ('[]', '""', 'false'))
  execute function atelie_record_activity();
create trigger activity_delete after delete on contact_submissions for each row execute function atelie_record_activity();
create trigger activity after insert or delete on user_roles for each row execute function atelie_record_activity();
create trigger activity_update after update on user_roles for each row when (old.role is distinct from new.role) execute function atelie_record_activity();
create trigger activity after insert or update on access_keys for each row execute function atelie_record_activity();
create trigger activity after insert or delete on secret_fingerprints for each row execute function atelie_record_activity();
{{else}}
create trigger row_history_activity after insert on row_history when not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (new.changed_at, 'change', new.action, new.actor, new.table_name, iif(new.table_name in ('products', 'reviews', 'cover_images'), new.row_id, null), case new.table_name
    when 'products' then coalesce((select title from products where id = new.row_id), new.row_before ->> 'title')
    when 'reviews' then coalesce((select client_name from reviews where id = new.row_id), new.row_before ->> 'client_name')
    when 'cover_images' then coalesce((select title from cover_images where id = new.row_id), new.row_before ->> 'title')
    else new.row_id end);
end;
create trigger products_activity after insert on products when not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'products', new.id, new.title);
end;
create trigger reviews_activity after insert on reviews when not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'reviews', new.id, new.client_name);
end;
create trigger cover_images_activity after insert on cover_images when not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'cover_images', new.id, new.title);
end;
create trigger site_settings_activity after insert on site_settings
  when (new.key = 'site' or new.key in ('notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled') and new.value not in ('[]', '""', 'false'))
    and not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'update', (select actor from history_actor), 'site_settings', new.key);
end;
create trigger contact_submissions_activity after delete on contact_submissions
begin
  insert into activity (created_at, kind, action, actor, table_name, number)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'delete', (select actor from history_actor), 'contact_submissions', 1)
  on conflict (created_at, (coalesce(cast(actor as text), ''))) where table_name = 'contact_submissions' do update set number = number + 1;
end;
create trigger user_roles_activity_insert after insert on user_roles when not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'role_given', (select actor from history_actor), 'user_roles', new.user_id, new.role);
end;
create trigger user_roles_activity_update after update on user_roles when old.role is not new.role
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'role_given', (select actor from history_actor), 'user_roles', new.user_id, new.role);
end;
create trigger user_roles_activity_delete after delete on user_roles
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'role_removed', (select actor from history_actor), 'user_roles', old.user_id, old.role);
end;
create trigger access_keys_activity_made after insert on access_keys when new.created_at is not null and not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, title, number)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'key_made', (select actor from history_actor), 'access_keys', new.role, new.generation);
end;
create trigger access_keys_activity_revoked_first after insert on access_keys when new.revoked_at is not null and not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor, table_name, title, number)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'key_revoked', (select actor from history_actor), 'access_keys', new.role, new.generation);
end;
create trigger access_keys_activity_revoked after update on access_keys when old.revoked_at is null and new.revoked_at is not null
begin
  insert into activity (created_at, kind, action, actor, table_name, title, number)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'key_revoked', (select actor from history_actor), 'access_keys', new.role, new.generation);
end;
create trigger secret_fingerprints_activity_insert after insert on secret_fingerprints
  when exists (select 1 from secret_fingerprints where fingerprint <> new.fingerprint) and not exists (select 1 from sqlite_master where name = 'atelie_copy')
begin
  insert into activity (created_at, kind, action, actor)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'secret_changed', (select actor from history_actor));
end;
create trigger secret_fingerprints_activity_delete after delete on secret_fingerprints when exists (select 1 from secret_fingerprints)
begin
  insert into activity (created_at, kind, action, actor)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'secret_forgotten', (select actor from history_actor));
end;
{{end}}
