create table goose_db_version (
  id integer primary key autoincrement,
  version_id integer not null,
  is_applied integer not null,
  tstamp timestamp default (datetime('now'))
);
insert into goose_db_version (version_id, is_applied) values (0, 1);

create table products (
  id text primary key not null,
  title text not null check (length(title) between 1 and 300),
  description text,
  artwork_type text check (artwork_type in ('digital', 'watercolour', 'mural', 'oil', 'acrylic')),
  image_url text,
  image_gallery text not null default '[]',
  video_gallery text not null default '[]',
  is_featured integer not null default 0,
  in_stock integer not null default 1,
  dimensions text,
  medium text,
  creation_date text,
  tags text not null default '[]',
  is_customizable integer not null default 0,
  seo_meta_title text,
  seo_meta_desc text,
  price integer not null default 0 check (price = 0),
  created_at text not null
) strict;
create index products_newest on products (created_at desc, id);
create index products_type_newest on products (artwork_type, created_at desc, id);

create table reviews (
  id text primary key not null,
  client_name text not null check (length(client_name) between 1 and 200),
  location text,
  message text not null check (length(message) between 1 and 5000),
  image_url text,
  is_active integer not null default 1,
  display_order integer,
  created_at text not null
) strict;
create index reviews_order on reviews (display_order, created_at desc, id);

create table cover_images (
  id text primary key not null,
  image_url text not null,
  title text,
  description text,
  media_type text,
  video_thumbnail_url text,
  is_active integer not null default 1,
  display_order integer check (display_order >= 1),
  created_at text not null
) strict;
create index cover_images_order on cover_images (display_order, created_at desc, id);

create table contact_submissions (
  id text primary key not null,
  name text not null,
  email text not null,
  message text not null,
  reason text not null default 'general' check (reason in ('general', 'commission', 'purchase', 'collaboration')),
  status text not null default 'new' check (status in ('new', 'read', 'replied')),
  created_at text not null
) strict;
create index contact_submissions_newest on contact_submissions (created_at desc, id);
create table contact_quarantine (
  id text primary key not null,
  name text not null,
  email text not null,
  message text not null,
  reason text not null,
  created_at text not null
) strict;
create index contact_quarantine_age on contact_quarantine (created_at);

-- Counters for limits that must hold over restarts and over several nodes. bucket_start is the window's first second.
create table rate_limits (
  name text not null,
  subject text not null,
  bucket_start integer not null,
  hits integer not null,
  primary key (name, subject, bucket_start)
) strict;
create index rate_limits_age on rate_limits (bucket_start);
insert into goose_db_version (version_id, is_applied) values (1, 1);

create table auth_users (
  id text primary key not null,
  email text,
  phone text,
  encrypted_password text,
  email_confirmed_at text,
  phone_confirmed_at text,
  invited_at text,
  confirmation_sent_at text,
  recovery_sent_at text,
  reauthentication_sent_at text,
  email_change text,
  email_change_sent_at text,
  email_change_confirm_status integer not null default 0,
  phone_change text,
  phone_change_sent_at text,
  last_sign_in_at text,
  app_metadata text not null default '{}',
  user_metadata text not null default '{}',
  is_sso_user integer not null default 0,
  banned_until text,
  deleted_at text,
  created_at text not null,
  updated_at text not null
) strict;
create unique index auth_users_email on auth_users (email) where not is_sso_user;
create unique index auth_users_phone on auth_users (phone);
create index auth_users_created on auth_users (created_at desc, id);

-- The ways an account can sign in, one row each; provider_id is the provider's own name for the account. What the
create table auth_identities (
  id text primary key not null,
  user_id text not null references auth_users (id) on delete cascade,
  provider text not null,
  provider_id text not null,
  identity_data text not null default '{}',
  last_sign_in_at text,
  created_at text not null,
  updated_at text not null,
  unique (provider, provider_id)
) strict;
create index auth_identities_user on auth_identities (user_id);
create table auth_sessions (
  id text primary key not null,
  user_id text not null references auth_users (id) on delete cascade,
  aal text not null default 'aal1',
  amr text not null default '[]',
  user_agent text,
  ip text,
  not_after text,
  created_at text not null,
  refreshed_at text not null
) strict;
create index auth_sessions_user on auth_sessions (user_id);
create table auth_refresh_tokens (
  token_hash text primary key not null,
  session_id text not null references auth_sessions (id) on delete cascade,
  generation integer not null,
  used_at text,
  created_at text not null,
  unique (session_id, generation)
) strict;
create table auth_setup_links (
  token_hash text primary key not null,
  expires_at text not null,
  created_at text not null
) strict;

create table user_roles (
  user_id text primary key not null references auth_users (id) on delete cascade,
  role text not null
) strict;
create table auth_factors (
  id text primary key not null,
  user_id text not null references auth_users (id) on delete cascade,
  friendly_name text,
  factor_type text not null check (factor_type in ('totp', 'phone')),
  status text not null check (status in ('unverified', 'verified')),
  secret text,
  phone text,
  last_challenged_at text,
  created_at text not null,
  updated_at text not null
) strict;
create index auth_factors_user on auth_factors (user_id);
insert into goose_db_version (version_id, is_applied) values (2, 1);

create table storage_buckets (
  id text primary key not null,
  name text not null unique,
  public integer not null default 1,
  file_size_limit integer,
  allowed_mime_types text,
  created_at text not null,
  updated_at text not null
) strict;

create table storage_objects (
  id text primary key not null,
  bucket_id text not null references storage_buckets (id),
  name text not null check (length(name) between 1 and 1024),
  blob_id text not null unique,
  size integer not null check (size >= 0),
  mime_type text not null,
  etag text not null,
  cache_control text not null,
  owner_id text,
  user_metadata text,
  created_at text not null,
  updated_at text not null,
  unique (bucket_id, name)
) strict;
-- of an object, struck out once the row or the file's end is certain. So a crash never leaves a file forgotten.
create table storage_trash (
  blob_id text primary key not null,
  since text not null
) strict;
insert into goose_db_version (version_id, is_applied) values (3, 1);

create table site_settings (
  key text primary key not null,
  value text not null,
  updated_at text not null
) strict;
insert into goose_db_version (version_id, is_applied) values (4, 1);

create table jobs (
  id text primary key not null,
  kind text not null,
  payload blob not null,
  tries integer not null default 0,
  run_at text not null,
  claim text,
  leased_until text,
  last_error text,
  failed_at text,
  created_at text not null
) strict;
create index jobs_due on jobs (run_at, id) where failed_at is null;
create index jobs_failed on jobs (failed_at) where failed_at is not null;
insert into goose_db_version (version_id, is_applied) values (5, 1);

create table auth_one_time_tokens (
  user_id text not null references auth_users (id) on delete cascade,
  token_type text not null,
  link_hash text not null unique,
  code_hash text not null,
  wrong_codes integer not null default 0,
  sent_to text not null,
  flow_id text,
  created_at text not null,
  expires_at text not null,
  primary key (user_id, token_type)
) strict;
create table auth_flow_states (
  id text primary key not null,
  user_id text references auth_users (id) on delete cascade,
  auth_code_hash text unique,
  code_challenge text,
  code_challenge_method text,
  authentication_method text not null,
  provider text,
  provider_state_hash text unique,
  provider_secrets text,
  linking_user_id text references auth_users (id) on delete cascade,
  redirect_to text,
  auth_code_issued_at text,
  created_at text not null
) strict;
create index auth_flow_states_age on auth_flow_states (created_at);
create table auth_audit_log (
  id text primary key not null,
  user_id text,
  action text not null,
  detail text not null default '{}',
  ip text,
  user_agent text,
  created_at text not null
) strict;
create index auth_audit_log_newest on auth_audit_log (created_at desc, id);
create index auth_audit_log_user on auth_audit_log (user_id, created_at desc);
create table auth_known_devices (
  user_id text not null references auth_users (id) on delete cascade,
  device_hash text not null,
  last_seen_at text not null,
  primary key (user_id, device_hash)
) strict;
insert into goose_db_version (version_id, is_applied) values (6, 1);

create table auth_last_sent (
  kind text not null,
  subject text not null,
  sent_at text not null,
  primary key (kind, subject)
) strict;
create index auth_last_sent_age on auth_last_sent (sent_at);

-- Codes for a change come with the new address or number, not with the account's.
create index auth_users_email_change on auth_users (email_change) where email_change is not null;
create index auth_users_phone_change on auth_users (phone_change) where phone_change is not null;
insert into goose_db_version (version_id, is_applied) values (7, 1);

alter table auth_factors add column last_step integer not null default 0;

-- Tries at a factor's codes, to slow guessing down: for each network, and under '' for all those that never got one
create table auth_factor_tries (
  factor_id text not null references auth_factors (id) on delete cascade,
  network text not null,
  tries integer not null default 0,
  next_try_at text not null,
  verified_at text,
  primary key (factor_id, network)
) strict;
alter table auth_sessions add column factor_id text;
create table auth_factor_challenges (
  id text primary key not null,
  factor_id text not null references auth_factors (id) on delete cascade,
  code_hash text,
  ip text not null,
  verified_at text,
  created_at text not null,
  expires_at text not null
) strict;
create index auth_factor_challenges_factor on auth_factor_challenges (factor_id);
create table auth_recovery_codes (
  code_hash text primary key not null,
  user_id text not null references auth_users (id) on delete cascade,
  used_at text,
  created_at text not null
) strict;
create index auth_recovery_codes_user on auth_recovery_codes (user_id);
create table auth_signing_keys (
  id text primary key not null,
  private_key text not null,
  sign_from text not null,
  verify_until text,
  created_at text not null
) strict;
insert into goose_db_version (version_id, is_applied) values (8, 1);

create table auth_sso_keys (
  id integer primary key not null check (id = 1),
  sealed_key text not null,
  certificate text not null,
  created_at text not null
) strict;
create table auth_sso_providers (
  id text primary key not null,
  resource_id text unique,
  disabled integer not null default 0,
  entity_id text not null unique,
  metadata_xml text not null,
  metadata_url text,
  metadata_refresh_at text,
  attribute_mapping text not null default '{}',
  name_id_format text,
  created_at text not null,
  updated_at text not null
) strict;

create table auth_sso_domains (
  id text primary key not null,
  provider_id text not null references auth_sso_providers (id) on delete cascade,
  domain text not null unique,
  created_at text not null
) strict;
create index auth_sso_domains_provider on auth_sso_domains (provider_id);
create table auth_sso_relay_states (
  id text primary key not null,
  provider_id text not null references auth_sso_providers (id) on delete cascade,
  request_id text not null,
  flow_id text,
  redirect_to text not null,
  created_at text not null
) strict;
create index auth_sso_relay_states_age on auth_sso_relay_states (created_at);
create table auth_sso_used_assertions (
  provider_id text not null references auth_sso_providers (id) on delete cascade,
  assertion_id text not null,
  usable_until text not null,
  primary key (provider_id, assertion_id)
) strict;
create index auth_sso_used_assertions_age on auth_sso_used_assertions (usable_until);
alter table auth_flow_states add column session_not_after text;
insert into goose_db_version (version_id, is_applied) values (9, 1);

create table realtime_outbox (
  id integer primary key autoincrement,
  
  kind text not null,
  payload text not null,
  created_at text not null
) strict;
create index realtime_outbox_age on realtime_outbox (created_at);
create table realtime_presence (
  ref text primary key not null,
  node text not null,
  topic text not null,
  private integer not null,
  key text not null,
  meta text not null,
  seen_at text not null
) strict;
create index realtime_presence_topic on realtime_presence (topic, private);
create index realtime_presence_node on realtime_presence (node, seen_at);
insert into goose_db_version (version_id, is_applied) values (10, 1);

-- Buckets whose limits the owner has set stand as they are; the others follow the program's settings.
alter table storage_buckets add column own_limits integer not null default 0;
create table storage_used_tokens (
  id text primary key not null,
  expires_at text not null
) strict;
create table storage_quota_lock (
  id integer primary key not null check (id = 1)
) strict;
insert into storage_quota_lock (id) values (1);
insert into goose_db_version (version_id, is_applied) values (11, 1);

create table storage_uploads (
  id text primary key not null,
  blob_id text not null unique,
  owner text not null,
  bucket_id text not null,
  name text not null,
  upsert integer not null,
  size integer not null check (size > 0),
  content_type text not null,
  cache_control text not null,
  user_metadata text not null,
  received integer not null,
  stored text not null,
  hash blob,
  finished integer not null default 0,
  created_at text not null,
  expires_at text not null,
  lock_token text,
  locked_until text,
  lock_wanted integer not null default 0
) strict;
create index storage_uploads_expiry on storage_uploads (expires_at);
insert into goose_db_version (version_id, is_applied) values (12, 1);

create table certificates (
  key_id text not null,
  name text not null,
  value blob not null,
  updated_at text not null,
  primary key (key_id, name)
) strict;
create table certificate_locks (
  name text primary key not null,
  token text not null,
  locked_until text not null
) strict;
insert into goose_db_version (version_id, is_applied) values (13, 1);

-- What is known of a picture or a film beside its object. blob_id is the object's when the row was written: another one
create table media (
  object_id text primary key not null references storage_objects (id),
  blob_id text not null,
  kind text not null check (kind in ('image', 'video')),
  state text not null check (state in ('waiting', 'ready', 'failed')),
  reason text not null default '',
  engine text not null default '',
  width integer not null,
  height integer not null,
  alpha integer not null default 0,
  thumbhash blob,
  color text not null default '',
  profile text not null default '',
  wide integer not null default 0,
  delta_e real not null default 0,
  creator text not null default '',
  rights text not null default '',
  original_id text unique,
  original_size integer,
  original_etag text,
  focus_x real,
  focus_y real,
  duration real,
  codec text,
  poster text,
  maker text,
  making_until text,
  created_at text not null,
  updated_at text not null
) strict;
create table media_renditions (
  object_id text not null references media (object_id),
  name text not null,
  blob_id text not null unique,
  format text not null,
  width integer not null,
  height integer not null,
  size integer not null,
  etag text not null,
  p3 integer not null,
  revision integer not null,
  eager integer not null,
  used_at text not null,
  primary key (object_id, name)
) strict;
create index media_renditions_lazy on media_renditions (used_at) where not eager;
insert into goose_db_version (version_id, is_applied) values (14, 1);

create table contact_notices (
  id text primary key not null,
  message_id text not null references contact_submissions (id) on delete cascade,
  channel text not null,
  recipient text not null,
  language text not null,
  queued_at text not null,
  sent_at text,
  failed_at text,
  last_error text,
  unique (message_id, channel, recipient)
) strict;

-- Whom a thank-you mail went to within a day, as a hash of the address: a form must not fill a stranger's mailbox.
create table contact_thanked (
  subject text primary key not null,
  sent_at text not null
) strict;
create index contact_thanked_age on contact_thanked (sent_at);
insert into goose_db_version (version_id, is_applied) values (15, 1);

-- A bucket's newest files are read from an index, as many as a page has. Listings below a prefix go by the names.
create index storage_objects_created on storage_objects (bucket_id, created_at, name);
create index storage_objects_updated on storage_objects (bucket_id, updated_at, name);
insert into goose_db_version (version_id, is_applied) values (16, 1);

alter table products add column updated_at text;
alter table reviews add column updated_at text;
alter table cover_images add column updated_at text;
update products set updated_at = created_at;
update reviews set updated_at = created_at;
update cover_images set updated_at = created_at;
insert into goose_db_version (version_id, is_applied) values (17, 1);

-- that a picture's sizes are made: what was made before may be shown for a moment longer.
create table content_version (
  id integer primary key not null check (id = 1),
  version integer not null,
  edited integer not null
) strict;
insert into content_version (id, version, edited) values (1, 1, 1);

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
insert into goose_db_version (version_id, is_applied) values (18, 1);

create table secret_fingerprints (
  fingerprint text primary key not null,
  created_at text not null
) strict;
create table storage_marker (
  id integer primary key not null,
  marker text not null,
  created_at text not null
) strict;
insert into goose_db_version (version_id, is_applied) values (19, 1);

alter table auth_one_time_tokens rename to auth_one_time_tokens_before;
create table auth_one_time_tokens (
  user_id text not null references auth_users (id) on delete cascade,
  token_type text not null,
  link_hash text not null unique,
  code_hash text not null,
  wrong_codes integer not null default 0,
  sent_to text not null,
  flow_id text,
  created_at text not null,
  expires_at text not null,
  primary key (user_id, token_type, link_hash)
) strict;
insert into auth_one_time_tokens (user_id, token_type, link_hash, code_hash, wrong_codes, sent_to, flow_id, created_at, expires_at)
  select user_id, token_type, link_hash, code_hash, wrong_codes, sent_to, flow_id, created_at, expires_at from auth_one_time_tokens_before;
drop table auth_one_time_tokens_before;
insert into goose_db_version (version_id, is_applied) values (22, 1);

alter table contact_quarantine add column cause text not null default 'field' check (cause in ('field', 'flood'));
create index contact_quarantine_flood on contact_quarantine (created_at) where cause = 'flood';
create table contact_digests (
  id text primary key not null,
  channel text not null,
  recipient text not null,
  due_at text not null,
  unique (channel, recipient)
) strict;
alter table contact_notices add column digest_id text;
create index contact_notices_digest on contact_notices (digest_id) where digest_id is not null;
alter table jobs add column about text;
create index jobs_about on jobs (about) where about is not null;
insert into goose_db_version (version_id, is_applied) values (23, 1);

create table access_keys (
  role text not null check (role in ('anon', 'service_role')),
  generation integer not null check (generation > 0),
  created_at text,
  revoked_at text,
  primary key (role, generation)
) strict;

create trigger access_keys_content_insert after insert on access_keys begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger access_keys_content_update after update on access_keys begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger access_keys_content_delete after delete on access_keys begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create table auth_issuers (
  issuer text primary key not null,
  used_at text not null
) strict;
create table auth_hash_keys (
  id text primary key not null,
  sealed_key text not null,
  created_at text not null
) strict;
insert into goose_db_version (version_id, is_applied) values (24, 1);

update auth_audit_log set action = case
    when action = 'signed_in' then 'login'
    when action = 'signed_out' then 'logout'
    when action = 'refresh_token_reused' then 'token_revoked'
    when action = 'password_changed' then 'user_updated_password'
    when action in ('user_created', 'email_confirmed', 'phone_confirmed') then 'user_signedup'
    when action in ('user_updated', 'email_changed', 'phone_changed') then 'user_modified'
    when action = 'sign_up_repeated' then 'user_repeated_signup'
    when action = 'factor_verified' then 'verification_attempted'
    when action = 'mail_requested' and detail ->> 'kind' = 'confirmation' then 'user_confirmation_requested'
    when action = 'mail_requested' and detail ->> 'kind' in ('magic_link', 'recovery') then 'user_recovery_requested'
    when action in ('mail_requested', 'sms_requested') and detail ->> 'kind' = 'reauthentication' then 'user_reauthenticate_requested'
    when action = 'sms_requested' and detail ->> 'kind' = 'sms' then 'user_recovery_requested'
    else action
  end
where action in ('signed_in', 'signed_out', 'refresh_token_reused', 'password_changed', 'user_created', 'email_confirmed', 'phone_confirmed',
  'user_updated', 'email_changed', 'phone_changed', 'sign_up_repeated', 'factor_verified', 'mail_requested', 'sms_requested');
alter table storage_uploads add column upload_metadata text not null default '';
insert into goose_db_version (version_id, is_applied) values (26, 1);

create table gone_works (
  id text primary key not null
) strict;

create trigger products_gone after delete on products begin
  insert into gone_works (id) values (old.id) on conflict (id) do nothing;
end;
insert into goose_db_version (version_id, is_applied) values (27, 1);

-- What takes a file away from visitors raises the content's version too (migration 18): while the database is away, files are

create trigger storage_objects_content_delete after delete on storage_objects begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger storage_buckets_content_delete after delete on storage_buckets begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger storage_buckets_content_update after update on storage_buckets when old.public is distinct from new.public begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
insert into goose_db_version (version_id, is_applied) values (28, 1);
