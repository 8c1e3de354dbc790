-- Series of works. A work may be in several; series_works has the pairs, each in its place in the series. Positions are order keys
-- (internal/tables/order_key.go). Triggers keep what follows from other rows, so that reads of visitors need no join:
-- of a pair the type of its work, whether the work is published, and whether visitors see the pair (both its ends are published);
-- of a series the types of its published works, and the picture of its cover or else of its first published work.
-- cover_id is no foreign key: a deleted work that comes back is the cover again.
create table series (
  id {{.uuid}} primary key not null,
  slug {{.text}} not null unique,
  title {{.text}} not null,
  title_pt {{.text}},
  text {{.text}},
  text_pt {{.text}},
  cover_id {{.uuid}},
  position {{.text}} not null default '',
  is_published {{.bool}} not null default {{.true}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}},
  types {{.list}} not null default {{.empty_list}},
  image_url {{.text}}
) {{.strict}};
create index series_position on series (position, created_at desc, id);
create index series_cover on series (cover_id);
create table series_works (
  id {{.uuid}} primary key not null,
  series_id {{.uuid}} not null references series (id) on delete cascade,
  product_id {{.uuid}} not null references products (id) on delete cascade,
  position {{.text}} not null default '',
  created_at {{.timestamp}} not null,
  artwork_type {{.text}},
  is_published {{.bool}} not null default {{.false}},
  is_visible {{.bool}} not null default {{.false}},
  unique (series_id, product_id)
) {{.strict}};
create index series_works_position on series_works (series_id, position, created_at desc, id, is_visible, artwork_type);
create index series_works_type on series_works (series_id, artwork_type, is_published);
create index series_works_product on series_works (product_id);
create index series_works_order on series_works (position);
{{if .postgres}}
create function atelie_refresh_series(which uuid) returns void language sql as $$
  update series s set types = fresh.types, image_url = fresh.image_url
  from (select
      array(select distinct w.artwork_type from series_works w where w.series_id = which and w.is_published and w.artwork_type is not null order by 1) as types,
      coalesce((select p.image_url from series c join products p on p.id = c.cover_id where c.id = which and p.is_published),
        (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = which and w.is_published and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1)) as image_url) fresh
  where s.id = which and (s.types is distinct from fresh.types or s.image_url is distinct from fresh.image_url)
$$;
create function atelie_pair_written() returns trigger language plpgsql as $$
begin
  select p.artwork_type, p.is_published into new.artwork_type, new.is_published from products p where p.id = new.product_id;
  new.is_published := coalesce(new.is_published, false);
  new.is_visible := new.is_published and coalesce((select s.is_published from series s where s.id = new.series_id), false);
  return new;
end $$;
create trigger pair_written before insert or update of series_id, product_id on series_works for each row execute function atelie_pair_written();
create function atelie_pair_changed() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    perform atelie_refresh_series(old.series_id);
  end if;
  if tg_op = 'INSERT' or (tg_op = 'UPDATE' and new.series_id is distinct from old.series_id) then
    perform atelie_refresh_series(new.series_id);
  end if;
  return null;
end $$;
create trigger pair_changed after insert or delete or update of series_id, product_id, position, artwork_type, is_published on series_works for each row execute function atelie_pair_changed();
create function atelie_series_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.is_published is distinct from old.is_published then
    update series_works set is_visible = is_published and new.is_published where series_id = new.id;
  end if;
  if new.cover_id is not null or (tg_op = 'UPDATE' and old.cover_id is not null) then
    perform atelie_refresh_series(new.id);
  end if;
  return null;
end $$;
create trigger series_changed after insert or update of cover_id, is_published on series for each row execute function atelie_series_changed();
create function atelie_work_in_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    update series_works w set artwork_type = new.artwork_type, is_published = new.is_published,
      is_visible = new.is_published and (select s.is_published from series s where s.id = w.series_id) where w.product_id = new.id;
  end if;
  perform atelie_refresh_series(s.id) from series s where s.cover_id = old.id;
  return null;
end $$;
create trigger work_in_series after update on products for each row
  when (old.artwork_type is distinct from new.artwork_type or old.is_published is distinct from new.is_published or old.image_url is distinct from new.image_url)
  execute function atelie_work_in_series();
create trigger work_in_series_deleted after delete on products for each row execute function atelie_work_in_series();

create constraint trigger content_changed after insert or update or delete on series deferrable initially deferred for each row execute function atelie_content_changed();
create constraint trigger content_changed after insert or update or delete on series_works deferrable initially deferred for each row execute function atelie_content_changed();
create trigger content_emptied after truncate on series for each statement execute function atelie_content_changed();
create trigger content_emptied after truncate on series_works for each statement execute function atelie_content_changed();

create trigger history_update after update on series for each row
  when (to_jsonb(old) - '{updated_at,position,types,image_url}'::text[] is distinct from to_jsonb(new) - '{updated_at,position,types,image_url}'::text[])
  execute function atelie_record_history('id');
create trigger history_delete after delete on series for each row execute function atelie_record_history('id');
-- The pairs that a deletion takes along are one revision, under the id of the deleted work or series, so that it can be undone.
create function atelie_keep_pairs() returns trigger language plpgsql as $$
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  select 'series_works', old.id, 'delete', cast(nullif(current_setting('atelie.actor', true), '') as uuid), clock_timestamp(),
    jsonb_build_object('pairs', jsonb_agg(to_jsonb(w) - '{artwork_type,is_published,is_visible}'::text[]))
  from series_works w where w.id in (select a.id from series_works a where tg_table_name = 'series' and a.series_id = old.id
    union all select b.id from series_works b where tg_table_name = 'products' and b.product_id = old.id) having count(*) > 0;
  return old;
end $$;
create trigger pairs_kept before delete on products for each row execute function atelie_keep_pairs();
create trigger pairs_kept before delete on series for each row execute function atelie_keep_pairs();
create or replace function atelie_record_activity() returns trigger language plpgsql as $$
begin
  if to_regclass('atelie_copy') is not null then
    return null;
  end if;
  case tg_table_name
  when 'row_history' then
    if new.table_name = 'series_works' then
      null; -- it belongs to the deletion of a work or a series, which has an entry
    elsif new.table_name = 'site_settings' then
      perform atelie_add_activity('change', new.action, new.table_name, null, new.row_id, null);
    else
      perform atelie_add_activity('change', new.action, new.table_name, cast(new.row_id as uuid), case new.table_name
        when 'products' then coalesce((select p.title from products p where p.id = cast(new.row_id as uuid)), new.row_before ->> 'title')
        when 'reviews' then coalesce((select r.client_name from reviews r where r.id = cast(new.row_id as uuid)), new.row_before ->> 'client_name')
        when 'series' then coalesce((select s.title from series s where s.id = cast(new.row_id as uuid)), new.row_before ->> 'title')
        else coalesce((select c.title from cover_images c where c.id = cast(new.row_id as uuid)), new.row_before ->> 'title')
      end, null);
    end if;
  when 'products', 'cover_images', 'series' then
    perform atelie_add_activity('change', 'insert', tg_table_name, new.id, new.title, null);
  when 'reviews' then
    perform atelie_add_activity('change', 'insert', tg_table_name, new.id, new.client_name, null);
  when 'site_settings' then
    perform atelie_add_activity('change', 'update', tg_table_name, null, new.key, null);
  when 'contact_submissions' then
    insert into activity (created_at, kind, action, actor, table_name, number)
    values (statement_timestamp(), 'change', 'delete', cast(nullif(current_setting('atelie.actor', true), '') as uuid), tg_table_name, 1)
    on conflict (created_at, (coalesce(cast(actor as text), ''))) where table_name = 'contact_submissions' do update set number = activity.number + 1;
  when 'user_roles' then
    if tg_op = 'DELETE' then
      perform atelie_add_activity('key', 'role_removed', tg_table_name, old.user_id, old.role, null);
    else
      perform atelie_add_activity('key', 'role_given', tg_table_name, new.user_id, new.role, null);
    end if;
  when 'access_keys' then
    if tg_op = 'INSERT' and new.created_at is not null then
      perform atelie_add_activity('key', 'key_made', tg_table_name, null, new.role, new.generation);
    end if;
    if new.revoked_at is not null and (tg_op = 'INSERT' or old.revoked_at is null) then
      perform atelie_add_activity('key', 'key_revoked', tg_table_name, null, new.role, new.generation);
    end if;
  when 'secret_fingerprints' then
    if tg_op = 'INSERT' and exists (select 1 from secret_fingerprints f where f.fingerprint <> new.fingerprint) then
      perform atelie_add_activity('key', 'secret_changed', null, null, null, null);
    elsif tg_op = 'DELETE' and exists (select 1 from secret_fingerprints) then
      perform atelie_add_activity('key', 'secret_forgotten', null, null, null, null);
    end if;
  end case;
  return null;
end $$;
create trigger activity after insert on series for each row execute function atelie_record_activity();
{{else}}
create trigger series_works_pair_inserted after insert on series_works begin
  update series_works set artwork_type = (select artwork_type from products where id = new.product_id),
    is_published = coalesce((select is_published from products where id = new.product_id), 0),
    is_visible = coalesce((select p.is_published and s.is_published from products p, series s where p.id = new.product_id and s.id = new.series_id), 0)
  where id = new.id;
end;
create trigger series_works_pair_exchanged after update of series_id, product_id on series_works begin
  update series_works set artwork_type = (select artwork_type from products where id = new.product_id),
    is_published = coalesce((select is_published from products where id = new.product_id), 0),
    is_visible = coalesce((select p.is_published and s.is_published from products p, series s where p.id = new.product_id and s.id = new.series_id), 0)
  where id = new.id;
end;
create trigger series_works_pair_changed after update of series_id, position, artwork_type, is_published on series_works begin
  update series set
    types = (select json_group_array(artwork_type) from (select distinct artwork_type from series_works where series_id = new.series_id and is_published and artwork_type is not null order by artwork_type)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = new.series_id and w.is_published and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = new.series_id;
end;
create trigger series_works_pair_left after update of series_id on series_works when old.series_id <> new.series_id begin
  update series set
    types = (select json_group_array(artwork_type) from (select distinct artwork_type from series_works where series_id = old.series_id and is_published and artwork_type is not null order by artwork_type)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = old.series_id and w.is_published and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = old.series_id;
end;
create trigger series_works_pair_deleted after delete on series_works begin
  update series set
    types = (select json_group_array(artwork_type) from (select distinct artwork_type from series_works where series_id = old.series_id and is_published and artwork_type is not null order by artwork_type)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = old.series_id and w.is_published and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = old.series_id;
end;
create trigger series_published after update of is_published on series when old.is_published <> new.is_published begin
  update series_works set is_visible = is_published and new.is_published where series_id = new.id;
end;
create trigger series_covered after insert on series when new.cover_id is not null begin
  update series set
    types = (select json_group_array(artwork_type) from (select distinct artwork_type from series_works where series_id = new.id and is_published and artwork_type is not null order by artwork_type)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = new.id and w.is_published and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = new.id;
end;
create trigger series_cover_changed after update of cover_id on series begin
  update series set
    types = (select json_group_array(artwork_type) from (select distinct artwork_type from series_works where series_id = new.id and is_published and artwork_type is not null order by artwork_type)),
    image_url = coalesce((select p.image_url from products p where p.id = series.cover_id and p.is_published),
      (select p.image_url from series_works w join products p on p.id = w.product_id where w.series_id = new.id and w.is_published and p.image_url is not null order by w.position, w.created_at desc, w.id limit 1))
  where id = new.id;
end;
create trigger products_series_update after update of artwork_type, is_published, image_url on products
  when old.artwork_type is not new.artwork_type or old.is_published <> new.is_published or old.image_url is not new.image_url
begin
  update series_works set artwork_type = new.artwork_type, is_published = new.is_published,
    is_visible = new.is_published and (select s.is_published from series s where s.id = series_works.series_id) where product_id = new.id;
  update series set cover_id = cover_id where cover_id = new.id;
end;
create trigger products_series_delete after delete on products begin
  update series set cover_id = cover_id where cover_id = old.id;
end;

create trigger series_content_insert after insert on series begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger series_content_update after update on series begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger series_content_delete after delete on series begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger series_works_content_insert after insert on series_works begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger series_works_content_update after update on series_works begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger series_works_content_delete after delete on series_works begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;

create trigger series_history_update after update on series when old.id is not new.id or old.slug is not new.slug or old.title is not new.title or old.title_pt is not new.title_pt
    or old.text is not new.text or old.text_pt is not new.text_pt or old.cover_id is not new.cover_id or old.is_published is not new.is_published or old.created_at is not new.created_at
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('series', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'slug', old.slug, 'title', old.title, 'title_pt', old.title_pt, 'text', old.text, 'text_pt', old.text_pt,
    'cover_id', old.cover_id, 'position', old.position, 'is_published', json(iif(old.is_published, 'true', 'false')),
    'created_at', old.created_at, 'updated_at', old.updated_at, 'types', json(old.types), 'image_url', old.image_url));
end;
create trigger series_history_delete after delete on series begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('series', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'slug', old.slug, 'title', old.title, 'title_pt', old.title_pt, 'text', old.text, 'text_pt', old.text_pt,
    'cover_id', old.cover_id, 'position', old.position, 'is_published', json(iif(old.is_published, 'true', 'false')),
    'created_at', old.created_at, 'updated_at', old.updated_at, 'types', json(old.types), 'image_url', old.image_url));
end;
-- The pairs that a deletion takes along are one revision, under the id of the deleted work or series, so that it can be undone.
create trigger products_pairs_kept before delete on products when exists (select 1 from series_works where product_id = old.id) begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  select 'series_works', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object('pairs', json_group_array(json_object(
    'id', id, 'series_id', series_id, 'product_id', product_id, 'position', position, 'created_at', created_at))) from series_works where product_id = old.id;
end;
create trigger series_pairs_kept before delete on series when exists (select 1 from series_works where series_id = old.id) begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  select 'series_works', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object('pairs', json_group_array(json_object(
    'id', id, 'series_id', series_id, 'product_id', product_id, 'position', position, 'created_at', created_at))) from series_works where series_id = old.id;
end;
drop trigger row_history_activity;
create trigger row_history_activity after insert on row_history when new.table_name <> 'series_works' and not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (new.changed_at, 'change', new.action, new.actor, new.table_name, iif(new.table_name in ('products', 'reviews', 'cover_images', 'series'), new.row_id, null), case new.table_name
    when 'products' then coalesce((select title from products where id = new.row_id), new.row_before ->> 'title')
    when 'reviews' then coalesce((select client_name from reviews where id = new.row_id), new.row_before ->> 'client_name')
    when 'cover_images' then coalesce((select title from cover_images where id = new.row_id), new.row_before ->> 'title')
    when 'series' then coalesce((select title from series where id = new.row_id), new.row_before ->> 'title')
    else new.row_id end);
end;
create trigger series_activity after insert on series when not exists (select 1 from activity_paused)
begin
  insert into activity (created_at, kind, action, actor, table_name, row_id, title)
  values (rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', 'change', 'insert', (select actor from history_actor), 'series', new.id, new.title);
end;
{{end}}
