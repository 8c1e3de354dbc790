-- Pictures in the conversations with visitors. The files are objects of the private bucket conversation-pictures; name is that of the
-- object. A row without an object is not shown: whoever has the service key can remove objects.
create table contact_pictures (
  id {{.uuid}} primary key not null,
  message_id {{.uuid}} not null references contact_submissions (id) on delete cascade,
  reply_id {{.uuid}} not null references contact_replies (id) on delete cascade,
  position {{.int}} not null,
  name {{.text}} not null unique,
  width {{.int}} not null,
  height {{.int}} not null,
  bytes {{.bigint}} not null,
  created_at {{.timestamp}} not null,
  unique (reply_id, position)
) {{.strict}};
create index contact_pictures_message on contact_pictures (message_id);
create index contact_pictures_age on contact_pictures (created_at);

-- Pages never show pictures of private buckets: those change no content version, else visitors could raise it.
alter table media add column private {{.bool}} not null default {{.false}};
{{if .postgres}}
drop trigger content_changed on media;
drop trigger content_begun on media;
drop trigger content_edited on media;
drop trigger content_described on media;
drop trigger content_removed on storage_objects;
create constraint trigger content_removed after delete on storage_objects deferrable initially deferred for each row
  when (old.bucket_id <> 'conversation-pictures') execute function atelie_content_changed();
create constraint trigger content_changed after delete on media deferrable initially deferred for each row when (not old.private) execute function atelie_content_changed();
create constraint trigger content_begun after insert on media deferrable initially deferred for each row when (not new.private) execute function atelie_content_changed('files');
create constraint trigger content_edited after update on media deferrable initially deferred for each row
  when (not new.private and (old.blob_id is distinct from new.blob_id or old.kind is distinct from new.kind or old.poster is distinct from new.poster
    or old.focus_x is distinct from new.focus_x or old.focus_y is distinct from new.focus_y))
  execute function atelie_content_changed();
create constraint trigger content_described after update on media deferrable initially deferred for each row
  when (not new.private and (old.state is distinct from new.state or old.width is distinct from new.width or old.height is distinct from new.height
    or old.alpha is distinct from new.alpha or old.thumbhash is distinct from new.thumbhash or old.color is distinct from new.color
    or old.profile is distinct from new.profile or old.wide is distinct from new.wide or old.creator is distinct from new.creator
    or old.rights is distinct from new.rights or old.duration is distinct from new.duration or old.codec is distinct from new.codec
    or old.reason is distinct from new.reason or old.engine is distinct from new.engine or old.delta_e is distinct from new.delta_e
    or old.original_id is distinct from new.original_id or old.original_size is distinct from new.original_size or old.original_etag is distinct from new.original_etag))
  execute function atelie_content_changed('files');
{{else}}
drop trigger media_content_insert;
drop trigger media_content_delete;
drop trigger media_content_update;
drop trigger media_content_described;
drop trigger storage_objects_content_delete;
create trigger storage_objects_content_delete after delete on storage_objects when old.bucket_id <> 'conversation-pictures' begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger media_content_insert after insert on media when not new.private begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1;
end;
create trigger media_content_delete after delete on media when not old.private begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger media_content_update after update on media
  when not new.private and (old.blob_id is distinct from new.blob_id or old.kind is distinct from new.kind or old.poster is distinct from new.poster
    or old.focus_x is distinct from new.focus_x or old.focus_y is distinct from new.focus_y)
begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger media_content_described after update on media
  when not new.private and (old.state is distinct from new.state or old.width is distinct from new.width or old.height is distinct from new.height
    or old.alpha is distinct from new.alpha or old.thumbhash is distinct from new.thumbhash or old.color is distinct from new.color
    or old.profile is distinct from new.profile or old.wide is distinct from new.wide or old.creator is distinct from new.creator
    or old.rights is distinct from new.rights or old.duration is distinct from new.duration or old.codec is distinct from new.codec
    or old.reason is distinct from new.reason or old.engine is distinct from new.engine or old.delta_e is distinct from new.delta_e
    or old.original_id is distinct from new.original_id or old.original_size is distinct from new.original_size or old.original_etag is distinct from new.original_etag)
begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1;
end;
{{end}}
