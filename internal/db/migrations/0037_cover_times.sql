-- When visitors see a cover: from visible_from until visible_until; null sets no limit. The policy reads has_begun and has_ended, which
-- the server stores with these times, and sets once they have come, as is_published of works (migration 33).
alter table cover_images add column visible_from {{.timestamp}};
alter table cover_images add column has_begun {{.bool}} not null default {{.true}} check (has_begun = {{.true}} or visible_from is not null);
alter table cover_images add column visible_until {{.timestamp}} check (visible_until > visible_from);
alter table cover_images add column has_ended {{.bool}} not null default {{.false}} check (has_ended = {{.false}} or visible_until is not null);
{{if .postgres}}
drop trigger history_update on cover_images;
create trigger history_update after update on cover_images for each row
  when (to_jsonb(old) - '{updated_at,display_order,has_begun,has_ended}'::text[] is distinct from to_jsonb(new) - '{updated_at,display_order,has_begun,has_ended}'::text[])
  execute function atelie_record_history('id');
{{else}}
drop trigger cover_images_history_update;
drop trigger cover_images_history_delete;
create trigger cover_images_history_update after update on cover_images when old.id is not new.id or old.image_url is not new.image_url or old.title is not new.title
    or old.description is not new.description or old.media_type is not new.media_type
    or old.video_thumbnail_url is not new.video_thumbnail_url or old.is_active is not new.is_active
    or old.created_at is not new.created_at or old.visible_from is not new.visible_from or old.visible_until is not new.visible_until
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('cover_images', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'image_url', old.image_url, 'title', old.title, 'description', old.description,
    'media_type', old.media_type, 'video_thumbnail_url', old.video_thumbnail_url,
    'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order, 'created_at', old.created_at,
    'updated_at', old.updated_at, 'visible_from', old.visible_from, 'has_begun', json(iif(old.has_begun, 'true', 'false')),
    'visible_until', old.visible_until, 'has_ended', json(iif(old.has_ended, 'true', 'false'))));
end;
create trigger cover_images_history_delete after delete on cover_images begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('cover_images', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'image_url', old.image_url, 'title', old.title, 'description', old.description,
    'media_type', old.media_type, 'video_thumbnail_url', old.video_thumbnail_url,
    'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order, 'created_at', old.created_at,
    'updated_at', old.updated_at, 'visible_from', old.visible_from, 'has_begun', json(iif(old.has_begun, 'true', 'false')),
    'visible_until', old.visible_until, 'has_ended', json(iif(old.has_ended, 'true', 'false'))));
end;
{{end}}
