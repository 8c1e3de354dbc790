-- Single sign-on by SAML 2.0. Our own key pair is made once and serves every node; the private key is sealed with a key
-- that is not in the database.
create table auth_sso_keys (
  id {{.int}} primary key not null check (id = 1),
  sealed_key {{.text}} not null,
  certificate {{.text}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};

-- Identity providers, as their metadata describes them. Metadata that was read from an address is read again at
-- metadata_refresh_at.
create table auth_sso_providers (
  id {{.uuid}} primary key not null,
  resource_id {{.text}} unique,
  disabled {{.bool}} not null default {{.false}},
  entity_id {{.text}} not null unique,
  metadata_xml {{.text}} not null,
  metadata_url {{.text}},
  metadata_refresh_at {{.timestamp}},
  attribute_mapping {{.json}} not null default '{}',
  name_id_format {{.text}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null
) {{.strict}};

create table auth_sso_domains (
  id {{.uuid}} primary key not null,
  provider_id {{.uuid}} not null references auth_sso_providers (id) on delete cascade,
  domain {{.text}} not null unique,
  created_at {{.timestamp}} not null
) {{.strict}};
create index auth_sso_domains_provider on auth_sso_domains (provider_id);

-- Requests that wait for their answer; each is used once. flow_id is the flow of a client that uses PKCE.
create table auth_sso_relay_states (
  id {{.uuid}} primary key not null,
  provider_id {{.uuid}} not null references auth_sso_providers (id) on delete cascade,
  request_id {{.text}} not null,
  flow_id {{.uuid}},
  redirect_to {{.text}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};
create index auth_sso_relay_states_age on auth_sso_relay_states (created_at);

-- Assertions that were accepted, until they are too old to be accepted again.
create table auth_sso_used_assertions (
  provider_id {{.uuid}} not null references auth_sso_providers (id) on delete cascade,
  assertion_id {{.text}} not null,
  usable_until {{.timestamp}} not null,
  primary key (provider_id, assertion_id)
) {{.strict}};
create index auth_sso_used_assertions_age on auth_sso_used_assertions (usable_until);

-- The end that an identity provider sets for a session which a code (PKCE) has yet to open.
alter table auth_flow_states add column session_not_after {{.timestamp}};
