-- What second factors need besides their secret. last_step is the newest TOTP step (RFC 6238 §5.2) that was used: it and
-- older ones are refused.
alter table auth_factors add column last_step {{.bigint}} not null default 0;

-- Tries at a factor's codes, to slow guessing down: for each network, and under '' for all those that never got one
-- right. A network that did (verified_at) is not held up by what others do.
create table auth_factor_tries (
  factor_id {{.uuid}} not null references auth_factors (id) on delete cascade,
  network {{.text}} not null,
  tries {{.int}} not null default 0,
  next_try_at {{.timestamp}} not null,
  verified_at {{.timestamp}},
  primary key (factor_id, network)
) {{.strict}};

-- The factor that raised a session to aal2: without the factor the session steps down again.
alter table auth_sessions add column factor_id {{.uuid}};

-- A challenge is answered once, from the network it was asked for from. code_hash is set for codes that were sent by SMS.
create table auth_factor_challenges (
  id {{.uuid}} primary key not null,
  factor_id {{.uuid}} not null references auth_factors (id) on delete cascade,
  code_hash {{.text}},
  ip {{.text}} not null,
  verified_at {{.timestamp}},
  created_at {{.timestamp}} not null,
  expires_at {{.timestamp}} not null
) {{.strict}};
create index auth_factor_challenges_factor on auth_factor_challenges (factor_id);

-- Codes for when the second factor is lost, shown once. code_hash is a keyed hash of 50 random bits.
create table auth_recovery_codes (
  code_hash {{.text}} primary key not null,
  user_id {{.uuid}} not null references auth_users (id) on delete cascade,
  used_at {{.timestamp}},
  created_at {{.timestamp}} not null
) {{.strict}};
create index auth_recovery_codes_user on auth_recovery_codes (user_id);

-- Keys that sign access tokens with ES256. private_key is sealed. A key signs from sign_from on until a newer one does,
-- and its tokens are good until verify_until; empty: nothing has taken its place yet.
create table auth_signing_keys (
  id {{.uuid}} primary key not null,
  private_key {{.text}} not null,
  sign_from {{.timestamp}} not null,
  verify_until {{.timestamp}},
  created_at {{.timestamp}} not null
) {{.strict}};
