-- The version of all that visitors can see: one number that every committed change raises, whoever makes it, so that what
-- was made of older content is never shown again (internal/content). Triggers do it, for they cannot be forgotten. Of files
-- only what pages tell of them counts: leases and unchanged values do not, or visitors could raise it.
-- edited is the version of the last change that somebody made. Later ones tell only what was found out about files, such as
-- that a picture's sizes are made: what was made before may be shown for a moment longer.
create table content_version (
  id {{.int}} primary key not null check (id = 1),
  version {{.bigint}} not null,
  edited {{.bigint}} not null
) {{.strict}};
insert into content_version (id, version, edited) values (1, 1, 1);
{{if .postgres}}
-- Once a transaction, at its end: earlier, two of them could wait for each other's rows. A later migration that changes
-- rows of these tables and then the table itself must say "set constraints all immediate" in between.
create function atelie_content_changed() returns trigger language plpgsql as $$
declare
  edit boolean := tg_nargs = 0;
  counted text := coalesce(current_setting('atelie.content_changed', true), '');
  next bigint;
begin
  if counted = 'edit' or (counted = 'files' and not edit) then
    return null;
  end if;
  perform set_config('atelie.content_changed', case when edit then 'edit' else 'files' end, true);
  insert into content_version as v (id, version, edited) values (1, 1, 1)
  on conflict (id) do update set version = v.version + 1, edited = case when edit then v.version + 1 else v.edited end returning v.version into next;
  perform pg_notify('atelie_content', next::text);
  return null;
end $$;
create constraint trigger content_changed after insert or update or delete on products deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_changed after insert or update or delete on reviews deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_changed after insert or update or delete on cover_images deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_changed after insert or update or delete on site_settings deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_changed after delete on media deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_begun after insert on media deferrable initially deferred for each row execute function atelie_content_changed('files');
create constraint trigger content_edited after update on media deferrable initially deferred for each row
  when (old.blob_id is distinct from new.blob_id or old.kind is distinct from new.kind or old.poster is distinct from new.poster
    or old.focus_x is distinct from new.focus_x or old.focus_y is distinct from new.focus_y)
  execute function atelie_content_changed();
create constraint trigger content_described after update on media deferrable initially deferred for each row
  when (old.state is distinct from new.state or old.width is distinct from new.width or old.height is distinct from new.height
    or old.alpha is distinct from new.alpha or old.thumbhash is distinct from new.thumbhash or old.color is distinct from new.color
    or old.profile is distinct from new.profile or old.wide is distinct from new.wide or old.creator is distinct from new.creator
    or old.rights is distinct from new.rights or old.duration is distinct from new.duration or old.codec is distinct from new.codec
    or old.reason is distinct from new.reason or old.engine is distinct from new.engine or old.delta_e is distinct from new.delta_e
    or old.original_id is distinct from new.original_id or old.original_size is distinct from new.original_size or old.original_etag is distinct from new.original_etag)
  execute function atelie_content_changed('files');
create constraint trigger content_described after update on storage_objects deferrable initially deferred for each row
  when (old.bucket_id is distinct from new.bucket_id or old.name is distinct from new.name or old.blob_id is distinct from new.blob_id
    or old.mime_type is distinct from new.mime_type or old.size is distinct from new.size or old.etag is distinct from new.etag
    or old.updated_at is distinct from new.updated_at)
  execute function atelie_content_changed();
create trigger content_emptied after truncate on products for each statement execute function atelie_content_changed();
create trigger content_emptied after truncate on reviews for each statement execute function atelie_content_changed();
create trigger content_emptied after truncate on cover_images for each statement execute function atelie_content_changed();
create trigger content_emptied after truncate on site_settings for each statement execute function atelie_content_changed();
create trigger content_emptied after truncate on media for each statement execute function atelie_content_changed();
{{else}}
create trigger products_content_insert after insert on products begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger products_content_update after update on products begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger products_content_delete after delete on products begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger reviews_content_insert after insert on reviews begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger reviews_content_update after update on reviews begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger reviews_content_delete after delete on reviews begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger cover_images_content_insert after insert on cover_images begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger cover_images_content_update after update on cover_images begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger cover_images_content_delete after delete on cover_images begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger site_settings_content_insert after insert on site_settings begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger site_settings_content_update after update on site_settings begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger site_settings_content_delete after delete on site_settings begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger media_content_insert after insert on media begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1;
end;
create trigger media_content_delete after delete on media begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger media_content_update after update on media
  when old.blob_id is distinct from new.blob_id or old.kind is distinct from new.kind or old.poster is distinct from new.poster
    or old.focus_x is distinct from new.focus_x or old.focus_y is distinct from new.focus_y
begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger media_content_described after update on media
  when old.state is distinct from new.state or old.width is distinct from new.width or old.height is distinct from new.height
    or old.alpha is distinct from new.alpha or old.thumbhash is distinct from new.thumbhash or old.color is distinct from new.color
    or old.profile is distinct from new.profile or old.wide is distinct from new.wide or old.creator is distinct from new.creator
    or old.rights is distinct from new.rights or old.duration is distinct from new.duration or old.codec is distinct from new.codec
    or old.reason is distinct from new.reason or old.engine is distinct from new.engine or old.delta_e is distinct from new.delta_e
    or old.original_id is distinct from new.original_id or old.original_size is distinct from new.original_size or old.original_etag is distinct from new.original_etag
begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1;
end;
create trigger storage_objects_content_update after update on storage_objects
  when old.bucket_id is distinct from new.bucket_id or old.name is distinct from new.name or old.blob_id is distinct from new.blob_id
    or old.mime_type is distinct from new.mime_type or old.size is distinct from new.size or old.etag is distinct from new.etag
    or old.updated_at is distinct from new.updated_at
begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
{{end}}
