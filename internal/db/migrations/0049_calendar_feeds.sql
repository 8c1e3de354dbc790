-- The calendars with promised dates (internal/functions/calendar.go), one for each account with a role: with the role its calendar ends.
-- token_hash is the SHA-256 of the token in its URL, in hex; nonce is as in contact_links.
create table calendar_feeds (
  user_id {{.uuid}} primary key not null references user_roles (user_id) on delete cascade,
  token_hash {{.text}} unique not null,
  nonce {{.text}} not null,
  language {{.text}} not null check (language in ('en', 'pt')),
  created_at {{.timestamp}} not null
) {{.strict}};

-- The board lists messages that ask for a commission and have no row in commissions.
create index contact_submissions_commission on contact_submissions (created_at desc, id) where reason = 'commission';
