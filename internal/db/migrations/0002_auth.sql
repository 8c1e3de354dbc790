-- Accounts and sessions. Secrets are kept as hashes only.
create table auth_users (
  id {{.uuid}} primary key not null,
  email {{.text}},
  phone {{.text}},
  encrypted_password {{.text}},
  email_confirmed_at {{.timestamp}},
  phone_confirmed_at {{.timestamp}},
  invited_at {{.timestamp}},
  confirmation_sent_at {{.timestamp}},
  recovery_sent_at {{.timestamp}},
  reauthentication_sent_at {{.timestamp}},
  email_change {{.text}},
  email_change_sent_at {{.timestamp}},
  email_change_confirm_status {{.int}} not null default 0,
  phone_change {{.text}},
  phone_change_sent_at {{.timestamp}},
  last_sign_in_at {{.timestamp}},
  app_metadata {{.json}} not null default '{}',
  user_metadata {{.json}} not null default '{}',
  is_sso_user {{.bool}} not null default {{.false}},
  banned_until {{.timestamp}},
  deleted_at {{.timestamp}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null
) {{.strict}};
-- Accounts of an identity provider stand apart: two of them, or one of them and one of ours, may share an address.
create unique index auth_users_email on auth_users (email) where not is_sso_user;
create unique index auth_users_phone on auth_users (phone);
create index auth_users_created on auth_users (created_at desc, id);

-- The ways an account can sign in, one row each; provider_id is the provider's own name for the account. What the
-- service calls identity_id is id here.
create table auth_identities (
  id {{.uuid}} primary key not null,
  user_id {{.uuid}} not null references auth_users (id) on delete cascade,
  provider {{.text}} not null,
  provider_id {{.text}} not null,
  identity_data {{.json}} not null default '{}',
  last_sign_in_at {{.timestamp}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null,
  unique (provider, provider_id)
) {{.strict}};
create index auth_identities_user on auth_identities (user_id);

-- amr lists how the session was authenticated, in the form of the claim (RFC 8176).
create table auth_sessions (
  id {{.uuid}} primary key not null,
  user_id {{.uuid}} not null references auth_users (id) on delete cascade,
  aal {{.text}} not null default 'aal1',
  amr {{.json}} not null default '[]',
  user_agent {{.text}},
  ip {{.text}},
  not_after {{.timestamp}},
  created_at {{.timestamp}} not null,
  refreshed_at {{.timestamp}} not null
) {{.strict}};
create index auth_sessions_user on auth_sessions (user_id);

-- A refresh token is replaced at every use; generation counts the replacements within a session. The successor is
-- derived from its parent with a key, so that a repeated request gets the same one although only hashes are kept
-- The current token of a session is the one without used_at.
create table auth_refresh_tokens (
  token_hash {{.text}} primary key not null,
  session_id {{.uuid}} not null references auth_sessions (id) on delete cascade,
  generation {{.int}} not null,
  used_at {{.timestamp}},
  created_at {{.timestamp}} not null,
  unique (session_id, generation)
) {{.strict}};

-- Single-use links that let the first owner choose a password.
create table auth_setup_links (
  token_hash {{.text}} primary key not null,
  expires_at {{.timestamp}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};

create table user_roles (
  user_id {{.uuid}} primary key not null references auth_users (id) on delete cascade,
  role {{.text}} not null
) {{.strict}};

-- Second factors. A verified one is asked for at sign-in; the host can remove them when a phone is lost.
create table auth_factors (
  id {{.uuid}} primary key not null,
  user_id {{.uuid}} not null references auth_users (id) on delete cascade,
  friendly_name {{.text}},
  factor_type {{.text}} not null check (factor_type in ('totp', 'phone')),
  status {{.text}} not null check (status in ('unverified', 'verified')),
  secret {{.text}},
  phone {{.text}},
  last_challenged_at {{.timestamp}},
  created_at {{.timestamp}} not null,
  updated_at {{.timestamp}} not null
) {{.strict}};
create index auth_factors_user on auth_factors (user_id);
