-- The texts of works, covers and reviews in Portuguese; the columns beside them have the English ones. Null or empty means that there
-- is no such text, and pages show the other one. products.alt_texts has the alternative texts of the work's pictures as the text of a
-- JSON object, {"url": {"en": "…", "pt": "…"}}: a text, so that both engines answer the same bytes.
alter table products add column title_pt {{.text}};
alter table products add column description_pt {{.text}};
alter table products add column dimensions_pt {{.text}};
alter table products add column medium_pt {{.text}};
alter table products add column seo_meta_title_pt {{.text}};
alter table products add column seo_meta_desc_pt {{.text}};
alter table products add column alt_texts {{.text}};
alter table reviews add column message_pt {{.text}};
alter table cover_images add column title_pt {{.text}};
alter table cover_images add column description_pt {{.text}};
alter table cover_images add column alt_en {{.text}};
alter table cover_images add column alt_pt {{.text}};
{{if not .postgres}}
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
    or old.title_pt is not new.title_pt or old.description_pt is not new.description_pt
    or old.dimensions_pt is not new.dimensions_pt or old.medium_pt is not new.medium_pt
    or old.seo_meta_title_pt is not new.seo_meta_title_pt or old.seo_meta_desc_pt is not new.seo_meta_desc_pt
    or old.alt_texts is not new.alt_texts
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('products', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'title', old.title, 'description', old.description, 'artwork_type', old.artwork_type,
    'image_url', old.image_url, 'image_gallery', json(old.image_gallery), 'video_gallery', json(old.video_gallery),
    'is_featured', json(iif(old.is_featured, 'true', 'false')), 'in_stock', json(iif(old.in_stock, 'true', 'false')),
    'dimensions', old.dimensions, 'medium', old.medium, 'creation_date', old.creation_date, 'tags', json(old.tags),
    'is_customizable', json(iif(old.is_customizable, 'true', 'false')), 'seo_meta_title', old.seo_meta_title,
    'seo_meta_desc', old.seo_meta_desc, 'price', old.price, 'created_at', old.created_at, 'updated_at', old.updated_at,
    'published_at', old.published_at, 'is_published', json(iif(old.is_published, 'true', 'false')), 'position', old.position,
    'title_pt', old.title_pt, 'description_pt', old.description_pt, 'dimensions_pt', old.dimensions_pt, 'medium_pt', old.medium_pt,
    'seo_meta_title_pt', old.seo_meta_title_pt, 'seo_meta_desc_pt', old.seo_meta_desc_pt, 'alt_texts', old.alt_texts));
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
    'published_at', old.published_at, 'is_published', json(iif(old.is_published, 'true', 'false')), 'position', old.position,
    'title_pt', old.title_pt, 'description_pt', old.description_pt, 'dimensions_pt', old.dimensions_pt, 'medium_pt', old.medium_pt,
    'seo_meta_title_pt', old.seo_meta_title_pt, 'seo_meta_desc_pt', old.seo_meta_desc_pt, 'alt_texts', old.alt_texts));
end;
drop trigger reviews_history_update;
drop trigger reviews_history_delete;
create trigger reviews_history_update after update on reviews when old.id is not new.id or old.client_name is not new.client_name or old.location is not new.location
    or old.message is not new.message or old.image_url is not new.image_url or old.is_active is not new.is_active
    or old.created_at is not new.created_at or old.message_pt is not new.message_pt
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('reviews', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'client_name', old.client_name, 'location', old.location, 'message', old.message,
    'image_url', old.image_url, 'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order,
    'created_at', old.created_at, 'updated_at', old.updated_at, 'message_pt', old.message_pt));
end;
create trigger reviews_history_delete after delete on reviews begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('reviews', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'client_name', old.client_name, 'location', old.location, 'message', old.message,
    'image_url', old.image_url, 'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order,
    'created_at', old.created_at, 'updated_at', old.updated_at, 'message_pt', old.message_pt));
end;
drop trigger cover_images_history_update;
drop trigger cover_images_history_delete;
create trigger cover_images_history_update after update on cover_images when old.id is not new.id or old.image_url is not new.image_url or old.title is not new.title
    or old.description is not new.description or old.media_type is not new.media_type
    or old.video_thumbnail_url is not new.video_thumbnail_url or old.is_active is not new.is_active
    or old.created_at is not new.created_at or old.visible_from is not new.visible_from or old.visible_until is not new.visible_until
    or old.title_pt is not new.title_pt or old.description_pt is not new.description_pt
    or old.alt_en is not new.alt_en or old.alt_pt is not new.alt_pt
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('cover_images', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'image_url', old.image_url, 'title', old.title, 'description', old.description,
    'media_type', old.media_type, 'video_thumbnail_url', old.video_thumbnail_url,
    'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order, 'created_at', old.created_at,
    'updated_at', old.updated_at, 'visible_from', old.visible_from, 'has_begun', json(iif(old.has_begun, 'true', 'false')),
    'visible_until', old.visible_until, 'has_ended', json(iif(old.has_ended, 'true', 'false')),
    'title_pt', old.title_pt, 'description_pt', old.description_pt, 'alt_en', old.alt_en, 'alt_pt', old.alt_pt));
end;
create trigger cover_images_history_delete after delete on cover_images begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('cover_images', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'image_url', old.image_url, 'title', old.title, 'description', old.description,
    'media_type', old.media_type, 'video_thumbnail_url', old.video_thumbnail_url,
    'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order, 'created_at', old.created_at,
    'updated_at', old.updated_at, 'visible_from', old.visible_from, 'has_begun', json(iif(old.has_begun, 'true', 'false')),
    'visible_until', old.visible_until, 'has_ended', json(iif(old.has_ended, 'true', 'false')),
    'title_pt', old.title_pt, 'description_pt', old.description_pt, 'alt_en', old.alt_en, 'alt_pt', old.alt_pt));
end;
{{end}}
