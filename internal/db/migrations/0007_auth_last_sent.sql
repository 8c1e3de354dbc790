-- When a message of a kind was last asked for, for each address or number, whether an account has it or not: what an
-- account alone would know could be learnt from the refusal. subject is a SHA-256.
create table auth_last_sent (
  kind {{.text}} not null,
  subject {{.text}} not null,
  sent_at {{.timestamp}} not null,
  primary key (kind, subject)
) {{.strict}};
create index auth_last_sent_age on auth_last_sent (sent_at);

-- Codes for a change come with the new address or number, not with the account's.
create index auth_users_email_change on auth_users (email_change) where email_change is not null;
create index auth_users_phone_change on auth_users (phone_change) where phone_change is not null;
