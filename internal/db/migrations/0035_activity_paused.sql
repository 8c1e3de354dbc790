{{if not .postgres}}
-- That a copy fills the database is a row, where the triggers of 0031 looked for the table atelie_copy: that search read all names of
-- the schema for each new row, and took more time than the row itself. On PostgreSQL the name is found in a cache.
create table activity_paused (
  id integer primary key not null check (id = 1)
) strict;
insert into activity_paused (id) select 1 where exists (select 1 from sqlite_master where name = 'atelie_copy');
drop trigger row_history_activity;
create trigger row_history_activity after insert on row_history when not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (new.changed_at, 'change', new.action, new.actor, new.table_name, iif(new.table_name in ('products', 'reviews', 'cover_images'), new.row_id, null), case new.table_name
    when 'products' then coalesce((select title from products where id = new.row_id), new.row_before ->> 'title')
    when 'reviews' then coalesce((select client_name from reviews where id = new.row_id), new.row_before ->> 'client_name')
    when 'cover_images' then coalesce((select title from cover_images where id = new.row_id), new.row_before ->> 'title')
    else new.row_id end);
end;
drop trigger products_activity;
create trigger products_activity after insert on products when not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'products', new.id, new.title);
end;
drop trigger reviews_activity;
create trigger reviews_activity after insert on reviews when not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'reviews', new.id, new.client_name);
end;
drop trigger cover_images_activity;
create trigger cover_images_activity after insert on cover_images when not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'cover_images', new.id, new.title);
end;
drop trigger site_settings_activity;
create trigger site_settings_activity after insert on site_settings
  when (new.key = 'site' or new.key in ('notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled') and new.value not in ('[]', '""', 'false'))
    and not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'update', (select actor from history_actor), 'site_settings', new.key);
end;
drop trigger user_roles_activity_insert;
create trigger user_roles_activity_insert after insert on user_roles when not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'role_given', (select actor from history_actor), 'user_roles', new.user_id, new.role);
end;
drop trigger access_keys_activity_made;
create trigger access_keys_activity_made after insert on access_keys when new.created_at is not null and not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, title, number)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'key_made', (select actor from history_actor), 'access_keys', new.role, new.generation);
end;
drop trigger access_keys_activity_revoked_first;
create trigger access_keys_activity_revoked_first after insert on access_keys when new.revoked_at is not null and not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, title, number)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'key_revoked', (select actor from history_actor), 'access_keys', new.role, new.generation);
end;
drop trigger secret_fingerprints_activity_insert;
create trigger secret_fingerprints_activity_insert after insert on secret_fingerprints
  when exists (select 1 from secret_fingerprints where fingerprint <> new.fingerprint) and not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'key', 'secret_changed', (select actor from history_actor));
end;
{{end}}
