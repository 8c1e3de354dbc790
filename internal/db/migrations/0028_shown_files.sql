-- What takes a file away from visitors raises the content's version too (migration 18): while the database is away, files are
-- given whose rows were looked up before, unless anything was edited since.
{{if .postgres}}
create constraint trigger content_removed after delete on storage_objects deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_changed after delete on storage_buckets deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_hidden after update on storage_buckets deferrable initially deferred for each row
  when (old.public is distinct from new.public) execute function atelie_content_changed();
create trigger content_emptied after truncate on storage_objects for each statement execute function atelie_content_changed();
{{else}}
create trigger storage_objects_content_delete after delete on storage_objects begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger storage_buckets_content_delete after delete on storage_buckets begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger storage_buckets_content_update after update on storage_buckets when old.public is distinct from new.public begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
{{end}}
