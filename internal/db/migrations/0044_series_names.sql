-- What series had no place for: their earlier slugs, and who added a work to a series or removed one.
--
-- The earlier slugs of series, whose URLs redirect to the present one. A slug that a series has now is none. series_id is no foreign key:
-- a deleted series that comes back has its earlier slugs again.
create table series_old_slugs (
  slug {{.text}} primary key not null,
  series_id {{.uuid}} not null
) {{.strict}};
create index series_old_slugs_series on series_old_slugs (series_id);

-- An entry about a pair (series_works) has the work in row_id and title, and the series here.
alter table activity add column series_id {{.uuid}};
alter table activity add column series_title {{.text}};

-- The functions and triggers of 0038 read all pairs of a series for each pair that was written. These look for one pair of each type, and
-- for the first published one.
create index series_works_published on series_works (series_id, is_published, position, created_at desc, id);
{{if .postgres}}
-- The settings keep the planner to the indexes: by the statistics of a small site it would read all pairs. A setting that is off makes the
-- cost of some plans so high that PostgreSQL would compile them at each call, which takes a second: hence jit. One query for the picture,
-- with a join, had plans that took minutes for a thousand works.
create or replace function atelie_refresh_series(which uuid) returns void language plpgsql set enable_seqscan = off set enable_sort = off set jit = off as $$
declare
  found_types text[];
  picture text;
  pair record;
begin
  found_types := array(select t.name from (values ('acrylic'), ('digital'), ('mural'), ('oil'), ('watercolour')) as t (name)
    where (select true from series_works w where w.series_id = which and w.artwork_type = t.name and w.is_published limit 1) order by t.name collate "C");
  select p.image_url into picture from series c join products p on p.id = c.cover_id where c.id = which and p.is_published;
  if picture is null then
    for pair in select w.product_id from series_works w where w.series_id = which and w.is_published order by w.position, w.created_at desc, w.id loop
      select p.image_url into picture from products p where p.id = pair.product_id;
      exit when picture is not null;
    end loop;
  end if;
  update series s set types = found_types, image_url = picture where s.id = which and (s.types is distinct from found_types or s.image_url is distinct from picture);
end $$;
-- Pairs that are inserted together refresh their series once.
create function atelie_pairs_added() returns trigger language plpgsql as $$
begin
  perform atelie_refresh_series(a.series_id) from (select distinct series_id from added) a;
  return null;
end $$;
drop trigger pair_changed on series_works;
create trigger pair_changed after delete or update of series_id, product_id, position, artwork_type, is_published on series_works for each row execute function atelie_pair_changed();
create trigger pairs_added after insert on series_works referencing new table as added for each statement execute function atelie_pairs_added();

create function atelie_series_renamed() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into series_old_slugs (slug, series_id) values (old.slug, old.id) on conflict (slug) do update set series_id = excluded.series_id;
  end if;
  delete from series_old_slugs where slug = new.slug;
  return null;
end $$;
create trigger series_added after insert on series for each row execute function atelie_series_renamed();
create trigger series_renamed after update of slug on series for each row when (old.slug <> new.slug) execute function atelie_series_renamed();

create function atelie_add_pair_activity(action text, pair series_works) returns void language sql as $$
  insert into activity (created_at, kind, action, actor, table_name, row_id, title, series_id, series_title)
  select clock_timestamp(), 'change', action, cast(nullif(current_setting('atelie.actor', true), '') as uuid), 'series_works', p.id, p.title, s.id, s.title
  from products p, series s where p.id = pair.product_id and s.id = pair.series_id and to_regclass('atelie_copy') is null
$$;
-- The pairs that a deletion of a work or a series takes along have no entries of their own: the other row is gone when they follow it.
create function atelie_record_pair_activity() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    perform atelie_add_pair_activity('delete', old);
  end if;
  if tg_op <> 'DELETE' then
    perform atelie_add_pair_activity('insert', new);
  end if;
  return null;
end $$;
create trigger activity after insert or delete on series_works for each row execute function atelie_record_pair_activity();
create trigger activity_update after update of series_id, product_id on series_works for each row
  when (old.series_id <> new.series_id or old.product_id <> new.product_id) execute function atelie_record_pair_activity();
{{else}}
create trigger series_added after insert on series begin
  delete from series_old_slugs where slug = new.slug;
end;
create trigger series_renamed after update of slug on series when old.slug <> new.slug begin
  insert into series_old_slugs (slug, series_id) values (old.slug, old.id) on conflict (slug) do update set series_id = excluded.series_id;
  delete from series_old_slugs where slug = new.slug;
end;

-- The pairs that a deletion of a work or a series takes along have no entries of their own: the other row is gone when they follow it.
create trigger series_works_activity_inserted after insert on series_works when not exists (select 1 from activity_paused) begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title, series_id, series_title)
  select rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'series_works', p.id, p.title, s.id, s.title
  from products p, series s where p.id = new.product_id and s.id = new.series_id;
end;
create trigger series_works_activity_deleted after delete on series_works when not exists (select 1 from activity_paused) begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title, series_id, series_title)
  select rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'delete', (select actor from history_actor), 'series_works', p.id, p.title, s.id, s.title
  from products p, series s where p.id = old.product_id and s.id = old.series_id;
end;
create trigger series_works_activity_exchanged after update of series_id, product_id on series_works when (old.series_id <> new.series_id or old.product_id <> new.product_id) and not exists (select 1 from activity_paused) begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title, series_id, series_title)
  select rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'delete', (select actor from history_actor), 'series_works', p.id, p.title, s.id, s.title
  from products p, series s where p.id = old.product_id and s.id = old.series_id;
  insert into activity (created_at, kind, action, actor, table_name, row_id, title, series_id, series_title)
  select rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'series_works', p.id, p.title, s.id, s.title
  from products p, series s where p.id = new.product_id and s.id = new.series_id;
end;

drop trigger series_works_pair_changed;
create trigger series_works_pair_changed after update of series_id, position, artwork_type, is_published on series_works begin
  update series set
    types = (select json_group_array(name) from (select column1 as name from (values ('acrylic'), ('digital'), ('mural'), ('oil'), ('watercolour'))
      where exists (select 1 from series_works where series_id = new.series_id and artwork_type = column1 and is_published = 1) order by column1)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = new.series_id and w.is_published = 1 and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = new.series_id;
end;
drop trigger series_works_pair_left;
create trigger series_works_pair_left after update of series_id on series_works when old.series_id <> new.series_id begin
  update series set
    types = (select json_group_array(name) from (select column1 as name from (values ('acrylic'), ('digital'), ('mural'), ('oil'), ('watercolour'))
      where exists (select 1 from series_works where series_id = old.series_id and artwork_type = column1 and is_published = 1) order by column1)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = old.series_id and w.is_published = 1 and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = old.series_id;
end;
drop trigger series_works_pair_deleted;
create trigger series_works_pair_deleted after delete on series_works begin
  update series set
    types = (select json_group_array(name) from (select column1 as name from (values ('acrylic'), ('digital'), ('mural'), ('oil'), ('watercolour'))
      where exists (select 1 from series_works where series_id = old.series_id and artwork_type = column1 and is_published = 1) order by column1)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = old.series_id and w.is_published = 1 and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = old.series_id;
end;
{{end}}
