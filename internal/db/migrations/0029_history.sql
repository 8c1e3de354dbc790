-- What rows were before they were changed or deleted. Triggers write it, in the transaction of the change, whoever makes it: no
-- caller can forget it. actor is the account that the transaction names (db.WithActor); null: a key, a command, or the program.
-- A change of the order alone is no revision, as it is none for updated_at. Settings count that the owner sees.
create table row_history (
  id {{.serial}},
  table_name {{.text}} not null,
  row_id {{.text}} not null,
  action {{.text}} not null check (action in ('update', 'delete')),
  actor {{.uuid}},
  changed_at {{.timestamp}} not null,
  row_before {{.json}} not null
) {{.strict}};
create index row_history_row on row_history (table_name, row_id, id);
create index row_history_age on row_history (changed_at);

-- Files that were removed while a revision still refers to them: their objects are in a bucket that no URL can name, under their
-- id. Bucket and name are the ones to which they come back.
create table storage_kept (
  object_id {{.uuid}} primary key not null references storage_objects (id),
  bucket_id {{.text}} not null,
  name {{.text}} not null,
  removed_at {{.timestamp}} not null
) {{.strict}};
create index storage_kept_name on storage_kept (bucket_id, name, removed_at);
{{if .postgres}}
create function atelie_record_history() returns trigger language plpgsql as $$
declare
  row_before jsonb := to_jsonb(old);
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values (tg_table_name, row_before ->> tg_argv[0], lower(tg_op), cast(nullif(current_setting('atelie.actor', true), '') as uuid), clock_timestamp(), row_before);
  return null;
end $$;
create trigger history_update after update on products for each row when (to_jsonb(old) - '{updated_at}'::text[] is distinct from to_jsonb(new) - '{updated_at}'::text[])
  execute function atelie_record_history('id');
create trigger history_delete after delete on products for each row execute function atelie_record_history('id');
create trigger history_update after update on reviews for each row when (to_jsonb(old) - '{updated_at,display_order}'::text[] is distinct from to_jsonb(new) - '{updated_at,display_order}'::text[])
  execute function atelie_record_history('id');
create trigger history_delete after delete on reviews for each row execute function atelie_record_history('id');
create trigger history_update after update on cover_images for each row when (to_jsonb(old) - '{updated_at,display_order}'::text[] is distinct from to_jsonb(new) - '{updated_at,display_order}'::text[])
  execute function atelie_record_history('id');
create trigger history_delete after delete on cover_images for each row execute function atelie_record_history('id');
create trigger history_update after update on site_settings for each row when (old.key in ('site', 'notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled') and old.value is distinct from new.value)
  execute function atelie_record_history('key');
create trigger history_delete after delete on site_settings for each row when (old.key in ('site', 'notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled')) execute function atelie_record_history('key');
{{else}}
-- The account of the running transaction, which writes this row first and deletes it last; there is one writer at a time.
create table history_actor (
  id integer primary key not null check (id = 1),
  actor text not null
) strict;
create trigger products_history_update after update on products when old.id is not new.id or old.title is not new.title or old.description is not new.description
    or old.artwork_type is not new.artwork_type or old.image_url is not new.image_url
    or old.image_gallery is not new.image_gallery or old.video_gallery is not new.video_gallery
    or old.is_featured is not new.is_featured or old.in_stock is not new.in_stock or old.dimensions is not new.dimensions
    or old.medium is not new.medium or old.creation_date is not new.creation_date or old.tags is not new.tags
    or old.is_customizable is not new.is_customizable or old.seo_meta_title is not new.seo_meta_title
    or old.seo_meta_desc is not new.seo_meta_desc or old.price is not new.price or old.created_at is not new.created_at
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('products', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'title', old.title, 'description', old.description, 'artwork_type', old.artwork_type,
    'image_url', old.image_url, 'image_gallery', json(old.image_gallery), 'video_gallery', json(old.video_gallery),
    'is_featured', json(iif(old.is_featured, 'true', 'false')), 'in_stock', json(iif(old.in_stock, 'true', 'false')),
    'dimensions', old.dimensions, 'medium', old.medium, 'creation_date', old.creation_date, 'tags', json(old.tags),
    'is_customizable', json(iif(old.is_customizable, 'true', 'false')), 'seo_meta_title', old.seo_meta_title,
    'seo_meta_desc', old.seo_meta_desc, 'price', old.price, 'created_at', old.created_at, 'updated_at', old.updated_at));
end;
create trigger products_history_delete after delete on products begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('products', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'title', old.title, 'description', old.description, 'artwork_type', old.artwork_type,
    'image_url', old.image_url, 'image_gallery', json(old.image_gallery), 'video_gallery', json(old.video_gallery),
    'is_featured', json(iif(old.is_featured, 'true', 'false')), 'in_stock', json(iif(old.in_stock, 'true', 'false')),
    'dimensions', old.dimensions, 'medium', old.medium, 'creation_date', old.creation_date, 'tags', json(old.tags),
    'is_customizable', json(iif(old.is_customizable, 'true', 'false')), 'seo_meta_title', old.seo_meta_title,
    'seo_meta_desc', old.seo_meta_desc, 'price', old.price, 'created_at', old.created_at, 'updated_at', old.updated_at));
end;
create trigger reviews_history_update after update on reviews when old.id is not new.id or old.client_name is not new.client_name or old.location is not new.location
    or old.message is not new.message or old.image_url is not new.image_url or old.is_active is not new.is_active
    or old.created_at is not new.created_at
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('reviews', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'client_name', old.client_name, 'location', old.location, 'message', old.message,
    'image_url', old.image_url, 'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order,
    'created_at', old.created_at, 'updated_at', old.updated_at));
end;
create trigger reviews_history_delete after delete on reviews begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('reviews', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'client_name', old.client_name, 'location', old.location, 'message', old.message,
    'image_url', old.image_url, 'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order,
    'created_at', old.created_at, 'updated_at', old.updated_at));
end;
create trigger cover_images_history_update after update on cover_images when old.id is not new.id or old.image_url is not new.image_url or old.title is not new.title
    or old.description is not new.description or old.media_type is not new.media_type
    or old.video_thumbnail_url is not new.video_thumbnail_url or old.is_active is not new.is_active
    or old.created_at is not new.created_at
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('cover_images', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'image_url', old.image_url, 'title', old.title, 'description', old.description,
    'media_type', old.media_type, 'video_thumbnail_url', old.video_thumbnail_url,
    'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order, 'created_at', old.created_at,
    'updated_at', old.updated_at));
end;
create trigger cover_images_history_delete after delete on cover_images begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('cover_images', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'image_url', old.image_url, 'title', old.title, 'description', old.description,
    'media_type', old.media_type, 'video_thumbnail_url', old.video_thumbnail_url,
    'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order, 'created_at', old.created_at,
    'updated_at', old.updated_at));
end;
create trigger site_settings_history_update after update on site_settings when old.key in ('site', 'notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled') and old.value is not new.value
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('site_settings', old.key, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'key', old.key, 'value', json(old.value), 'updated_at', old.updated_at));
end;
create trigger site_settings_history_delete after delete on site_settings when old.key in ('site', 'notice.email', 'notice.webhook', 'notice.language', 'thanks.enabled')
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('site_settings', old.key, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'key', old.key, 'value', json(old.value), 'updated_at', old.updated_at));
end;
{{end}}
