-- The works of a series before they were changed: added, taken out or put in another order. One revision has them all, under the id of the
-- series. It covers what the same account changes in the ten minutes after it, so that an hour of ordering is six revisions, unless
-- the row of the series changes meanwhile. The pairs that a deletion of a work or a series takes along are kept by other triggers (0038).
-- Nothing is kept while a copy fills the database.
{{if .postgres}}
create function atelie_keep_series(which uuid) returns void language plpgsql as $$
declare
  who uuid := cast(nullif(current_setting('atelie.actor', true), '') as uuid);
  newest bigint := (select max(id) from row_history where table_name = 'series_works' and row_id = cast(which as text));
  newest_row bigint := (select max(id) from row_history where table_name = 'series' and row_id = cast(which as text));
begin
  if to_regclass('atelie_copy') is not null or exists (select from row_history h where h.id = newest and h.id > coalesce(newest_row, 0)
      and h.action = 'update' and h.actor is not distinct from who and h.changed_at > clock_timestamp() - interval '10 minutes') then
    return;
  end if;
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  select 'series_works', which, 'update', who, clock_timestamp(), jsonb_build_object('pairs',
    coalesce(jsonb_agg(to_jsonb(w) - '{artwork_type,is_published,is_visible}'::text[] order by w.position, w.created_at desc, w.id), '[]'))
  from series_works w where w.series_id = which;
end $$;
create function atelie_keep_changed_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from products p where p.id = old.product_id) and exists (select from series s where s.id = old.series_id) then
      perform atelie_keep_series(old.series_id);
    end if;
    return old;
  end if;
  if tg_op = 'UPDATE' then
    perform atelie_keep_series(old.series_id);
  end if;
  if tg_op = 'INSERT' or new.series_id <> old.series_id then
    perform atelie_keep_series(new.series_id);
  end if;
  return new;
end $$;
create trigger history_delete before delete on series_works for each row execute function atelie_keep_changed_series();
create trigger history_update before update of series_id, product_id, position on series_works for each row
  when (old.series_id <> new.series_id or old.product_id <> new.product_id or old.position <> new.position) execute function atelie_keep_changed_series();
-- An insert that leaves out pairs that are there (on conflict do nothing) changes nothing.
create function atelie_keep_extended_series() returns trigger language plpgsql as $$
begin
  if not exists (select from series_works w where w.series_id = new.series_id and w.product_id = new.product_id) then
    perform atelie_keep_series(new.series_id);
  end if;
  return new;
end $$;
create trigger history_insert before insert on series_works for each row execute function atelie_keep_extended_series();
{{else}}
-- Triggers share nothing on SQLite but what they insert into a view, whose trigger does the work.
create view series_to_keep as select id from series;
create trigger series_kept instead of insert on series_to_keep
  when not exists (select 1 from activity_paused)
    and not exists (select 1 from row_history where id = (select max(id) from row_history where table_name = 'series_works' and row_id = new.id)
      and id > coalesce((select max(id) from row_history where table_name = 'series' and row_id = new.id), 0)
      and action = 'update' and actor is (select actor from history_actor)
      and changed_at > rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now', '-10 minutes'), '0'), '.') || '+00:00')
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  select 'series_works', new.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00',
    json_object('pairs', json_group_array(json_object('id', id, 'series_id', series_id, 'product_id', product_id, 'position', position, 'created_at', created_at)))
  from (select * from series_works where series_id = new.id order by position, created_at desc, id);
end;
-- An insert that leaves out pairs that are there (on conflict do nothing) changes nothing.
create trigger series_works_kept_insert before insert on series_works
  when not exists (select 1 from series_works where series_id = new.series_id and product_id = new.product_id)
begin
  insert into series_to_keep (id) values (new.series_id);
end;
create trigger series_works_kept_update before update of series_id, product_id, position on series_works
  when old.series_id <> new.series_id or old.product_id <> new.product_id or old.position <> new.position
begin
  insert into series_to_keep (id) select old.series_id union select new.series_id;
end;
create trigger series_works_kept_delete before delete on series_works
  when exists (select 1 from products where id = old.product_id) and exists (select 1 from series where id = old.series_id)
begin
  insert into series_to_keep (id) values (old.series_id);
end;

-- A series without a picture has no published work with one. So the picture that a changed pair brings is that of its own work, and the
-- others need not be read, as the trigger of 0044 did.
drop trigger series_works_pair_changed;
create trigger series_works_pair_changed after update of series_id, position, artwork_type, is_published on series_works begin
  update series set
    types = (select json_group_array(name) from (select column1 as name from (values ('acrylic'), ('digital'), ('mural'), ('oil'), ('watercolour'))
      where exists (select 1 from series_works where series_id = new.series_id and artwork_type = column1 and is_published = 1) order by column1)),
    image_url = case when image_url is null then (select p.image_url from products p where p.id = new.product_id and p.is_published)
      else coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
        (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = new.series_id and w.is_published = 1 and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1)) end
  where id = new.series_id;
end;
{{end}}
