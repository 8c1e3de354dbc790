-- Links and codes that were sent: single use, one of a kind at a time for each account. link_hash is a SHA-256 of 256
-- random bits, code_hash a keyed hash of six digits. wrong_codes bounds guessing: beyond the limit only the link works.
create table auth_one_time_tokens (
  user_id {{.uuid}} not null references auth_users (id) on delete cascade,
  token_type {{.text}} not null,
  link_hash {{.text}} not null unique,
  code_hash {{.text}} not null,
  wrong_codes {{.int}} not null default 0,
  sent_to {{.text}} not null,
  flow_id {{.uuid}},
  created_at {{.timestamp}} not null,
  expires_at {{.timestamp}} not null,
  primary key (user_id, token_type)
) {{.strict}};

-- Sign-ins that are under way: what the client committed to (RFC 7636), and what an identity provider must give back.
create table auth_flow_states (
  id {{.uuid}} primary key not null,
  user_id {{.uuid}} references auth_users (id) on delete cascade,
  auth_code_hash {{.text}} unique,
  code_challenge {{.text}},
  code_challenge_method {{.text}},
  authentication_method {{.text}} not null,
  provider {{.text}},
  provider_state_hash {{.text}} unique,
  provider_secrets {{.text}},
  linking_user_id {{.uuid}} references auth_users (id) on delete cascade,
  redirect_to {{.text}},
  auth_code_issued_at {{.timestamp}},
  created_at {{.timestamp}} not null
) {{.strict}};
create index auth_flow_states_age on auth_flow_states (created_at);

-- What happened to accounts: kept for the owner, without secrets. user_id has no reference, as it outlives the account.
create table auth_audit_log (
  id {{.uuid}} primary key not null,
  user_id {{.uuid}},
  action {{.text}} not null,
  detail {{.json}} not null default '{}',
  ip {{.text}},
  user_agent {{.text}},
  created_at {{.timestamp}} not null
) {{.strict}};
create index auth_audit_log_newest on auth_audit_log (created_at desc, id);
create index auth_audit_log_user on auth_audit_log (user_id, created_at desc);

-- Programs that an account has signed in from, so that a new one can be told by mail.
create table auth_known_devices (
  user_id {{.uuid}} not null references auth_users (id) on delete cascade,
  device_hash {{.text}} not null,
  last_seen_at {{.timestamp}} not null,
  primary key (user_id, device_hash)
) {{.strict}};
