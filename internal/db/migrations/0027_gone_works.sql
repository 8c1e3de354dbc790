-- Works that were deleted, so that their addresses can say so (HTTP 410) instead of 404. A work whose id comes back, as a copy
-- or an import may bring it, is there again.
create table gone_works (
  id {{.uuid}} primary key not null
) {{.strict}};
{{if .postgres}}
create function atelie_work_gone() returns trigger language plpgsql as $$
begin
  insert into gone_works (id) values (old.id) on conflict (id) do nothing;
  return null;
end $$;
create trigger products_gone after delete on products for each row execute function atelie_work_gone();
{{else}}
create trigger products_gone after delete on products begin
  insert into gone_works (id) values (old.id) on conflict (id) do nothing;
end;
{{end}}
