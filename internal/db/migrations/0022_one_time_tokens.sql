-- Of links and codes of a kind the last three are good (internal/auth/onetime.go): with one alone, whoever asks for
-- another voids what the owner is about to use. SQLite cannot change a primary key, so the table is made anew.
alter table auth_one_time_tokens rename to auth_one_time_tokens_before;
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
  primary key (user_id, token_type, link_hash)
) {{.strict}};
insert into auth_one_time_tokens (user_id, token_type, link_hash, code_hash, wrong_codes, sent_to, flow_id, created_at, expires_at)
  select user_id, token_type, link_hash, code_hash, wrong_codes, sent_to, flow_id, created_at, expires_at from auth_one_time_tokens_before;
drop table auth_one_time_tokens_before;
