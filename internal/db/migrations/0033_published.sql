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
-- Migration 34 replaces the triggers of the history, so that they have published_at and is_published.
drop trigger products_gone;
create trigger products_gone after delete on products when old.is_published begin
  insert into gone_works (id) values (old.id) on conflict (id) do nothing;
end;
{{end}}
-- Drafts and scheduled works are few.
create index products_unpublished on products (published_at) where not is_published;
