-- When visitors see a work: published_at is null for a draft, and in the future for a scheduled work. The policy reads is_published,
-- which the server stores with published_at, and sets once a scheduled time has come (internal/tables/scheduled.go): so the nodes need
-- not have the same time, and a work becomes visible by a commit that raises the content's version like any edit.
-- The published_at that SQL without the column gets on SQLite is a constant, as an added column cannot have another default there;
-- the server always names the time.
{{if .postgres}}
drop trigger history_update on products; -- the new columns are no change of a work
{{end}}
alter table products add column published_at {{.timestamp}} default '1970-01-01T00:00:00+00:00';
alter table products add column is_published {{.bool}} not null default {{.true}} check (is_published = {{.false}} or published_at is not null);
{{if .postgres}}
update products set published_at = least(created_at, now());
set constraints all immediate; -- migration 18
alter table products alter column published_at set default now();
create trigger history_update after update on products for each row when (to_jsonb(old) - '{updated_at,is_published}'::text[] is distinct from to_jsonb(new) - '{updated_at,is_published}'::text[])
  execute function atelie_record_history('id');
drop trigger products_gone on products;
create trigger products_gone after delete on products for each row when (old.is_published) execute function atelie_work_gone();
{{else}}
update products set published_at = min(created_at, rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00');
drop trigger products_history_update;
drop trigger products_history_delete;
create trigger products_history_update after update on products when old.id is not new.id or old.title is not new.title or old.description is not new.description
    or old.artwork_type is not new.artwork_type or old.image_url is not new.image_url
    or old.image_gallery is not new.image_gallery or old.video_gallery is not new.video_gallery
    or old.is_featured is not new.is_featured or old.in_stock is not new.in_stock or old.dimensions is not new.dimensions
    or old.medium is not new.medium or old.creation_date is not new.creation_date or old.tags is not new.tags
    or old.is_customizable is not new.is_customizable or old.seo_meta_title is not new.seo_meta_title
    or old.seo_meta_desc is not new.seo_meta_desc or old.price is not new.price or old.created_at is not new.created_at
    or old.published_at is not new.published_at
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('products', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'title', old.title, 'description', old.description, 'artwork_type', old.artwork_type,
    'image_url', old.image_url, 'image_gallery', json(old.image_gallery), 'video_gallery', json(old.video_gallery),
    'is_featured', json(iif(old.is_featured, 'true', 'false')), 'in_stock', json(iif(old.in_stock, 'true', 'false')),
    'dimensions', old.dimensions, 'medium', old.medium, 'creation_date', old.creation_date, 'tags', json(old.tags),
    'is_customizable', json(iif(old.is_customizable, 'true', 'false')), 'seo_meta_title', old.seo_meta_title,
    'seo_meta_desc', old.seo_meta_desc, 'price', old.price, 'created_at', old.created_at, 'updated_at', old.updated_at,
    'published_at', old.published_at, 'is_published', json(iif(old.is_published, 'true', 'false'))));
end;
create trigger products_history_delete after delete on products begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('products', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'title', old.title, 'description', old.description, 'artwork_type', old.artwork_type,
    'image_url', old.image_url, 'image_gallery', json(old.image_gallery), 'video_gallery', json(old.video_gallery),
    'is_featured', json(iif(old.is_featured, 'true', 'false')), 'in_stock', json(iif(old.in_stock, 'true', 'false')),
    'dimensions', old.dimensions, 'medium', old.medium, 'creation_date', old.creation_date, 'tags', json(old.tags),
    'is_customizable', json(iif(old.is_customizable, 'true', 'false')), 'seo_meta_title', old.seo_meta_title,
    'seo_meta_desc', old.seo_meta_desc, 'price', old.price, 'created_at', old.created_at, 'updated_at', old.updated_at,
    'published_at', old.published_at, 'is_published', json(iif(old.is_published, 'true', 'false'))));
end;
drop trigger products_gone;
create trigger products_gone after delete on products when old.is_published begin
  insert into gone_works (id) values (old.id) on conflict (id) do nothing;
end;
{{end}}
-- Drafts and scheduled works are few.
create index products_unpublished on products (published_at) where not is_published;
