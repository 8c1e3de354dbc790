-- The owner's order of works: a text by whose bytes they are ordered (internal/tables/order_key.go). Works that nobody has moved are
-- ordered as by created_at, newest first. A row without a position comes first.
alter table products add column position {{.text}} not null default '';
create index products_position on products (position, created_at desc, id);
create index products_type_position on products (artwork_type, position, created_at desc, id);
{{if .postgres}}
-- A change of the order alone is no revision.
drop trigger history_update on products;
create trigger history_update after update on products for each row when (to_jsonb(old) - '{updated_at,is_published,position}'::text[] is distinct from to_jsonb(new) - '{updated_at,is_published,position}'::text[])
  execute function atelie_record_history('id');
update products set position = lpad(least(greatest(99999999999999999 - floor(extract(epoch from created_at) * 1000000)::bigint, 0), 99999999999999999)::text, 17, '0') || replace(id::text, '-', '') || 'i';
{{else}}
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
    'published_at', old.published_at, 'is_published', json(iif(old.is_published, 'true', 'false')), 'position', old.position));
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
    'published_at', old.published_at, 'is_published', json(iif(old.is_published, 'true', 'false')), 'position', old.position));
end;
update products set position = printf('%017d', min(max(99999999999999999 - cast(strftime('%s', substr(created_at, 1, 19)) as integer) * 1000000
  - cast(round(cast('0' || rtrim(substr(created_at, 20), '+0:') as real) * 1000000) as integer), 0), 99999999999999999)) || replace(id, '-', '') || 'i';
{{end}}
