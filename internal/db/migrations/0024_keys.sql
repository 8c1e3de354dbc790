-- Generations of the two keys that programs send: the public one (anon) and the elevated one (service_role). The first
-- generation of a role is valid without a row. Key checks read this table once for each content version, so its
-- triggers raise the version: all nodes know of a revocation within a second, and pages are made anew with the new key.
create table access_keys (
  role {{.text}} not null check (role in ('anon', 'service_role')),
  generation {{.int}} not null check (generation > 0),
  created_at {{.timestamp}},
  revoked_at {{.timestamp}},
  primary key (role, generation)
) {{.strict}};
{{if .postgres}}
create constraint trigger content_changed after insert or update or delete on access_keys deferrable initially deferred for each row execute function atelie_content_changed();
create trigger content_emptied after truncate on access_keys for each statement execute function atelie_content_changed();
{{else}}
create trigger access_keys_content_insert after insert on access_keys begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger access_keys_content_update after update on access_keys begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger access_keys_content_delete after delete on access_keys begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
{{end}}
-- Issuers (iss) of access tokens: the address that the service has now and those that it had while tokens of them can
-- still be valid, so that a new address signs nobody out.
create table auth_issuers (
  issuer {{.text}} primary key not null,
  used_at {{.timestamp}} not null
) {{.strict}};

-- Keys of an earlier secret that something stored can only be checked with, because only its keyed hash is kept (recovery
-- codes). Sealed with the secret of now.
create table auth_hash_keys (
  id {{.uuid}} primary key not null,
  sealed_key {{.text}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};
