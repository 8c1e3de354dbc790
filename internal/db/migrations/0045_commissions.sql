-- How far a commission is (internal/functions/commission.go). A message without a row is an enquiry about which nothing was decided.
-- promised_on is the day for which the finished work was promised: that of the accepted offer, unless the owner changes it.
create table commissions (
  message_id {{.uuid}} primary key not null references contact_submissions (id) on delete cascade,
  stage {{.text}} not null check (stage in ('enquiry', 'offer', 'accepted', 'in_progress', 'finished', 'declined')),
  stage_at {{.timestamp}} not null,
  promised_on {{.date}}
) {{.strict}};
create index commissions_stage on commissions (stage, stage_at);

-- The texts about terms that offers had, by the SHA-256 of the text in hex. They stay as they were when the settings change.
create table commission_terms (
  hash {{.text}} primary key not null,
  text {{.text}} not null,
  language {{.text}} not null check (language in ('en', 'pt'))
) {{.strict}};

-- Offers and the visitors' answers. An offer's text and the state of its mail are in the row of contact_replies with the same id; a visitor's
-- answer is a row there too, so that owners are told of it. An offer can be answered until the day expires_on has ended everywhere.
create table commission_offers (
  id {{.uuid}} primary key not null references contact_replies (id) on delete cascade,
  message_id {{.uuid}} not null references contact_submissions (id) on delete cascade,
  price_text {{.text}} not null,
  deposit_text {{.text}},
  promised_on {{.date}},
  expires_on {{.date}},
  terms_hash {{.text}} references commission_terms (hash),
  created_at {{.timestamp}} not null,
  withdrawn_at {{.timestamp}},
  answer {{.text}} check (answer in ('accepted', 'declined')),
  answered_at {{.timestamp}},
  answered_name {{.text}}
) {{.strict}};
create index commission_offers_message on commission_offers (message_id, created_at, id);
create index commission_offers_terms on commission_offers (terms_hash) where terms_hash is not null;

-- What a text in a conversation is: progress is an owner's note on the work, offer the text of an offer, answer a visitor's answer to one.
alter table contact_replies add column kind {{.text}} not null default 'reply' check (kind in ('reply', 'progress', 'offer', 'answer'));

-- Pages tell how many slots are free: commissions that begin or stop taking one change the content.
{{if .postgres}}
create constraint trigger content_changed after update on commissions deferrable initially deferred for each row
  when ((old.stage in ('accepted', 'in_progress')) <> (new.stage in ('accepted', 'in_progress'))) execute function atelie_content_changed();
create constraint trigger content_begun after insert on commissions deferrable initially deferred for each row
  when (new.stage in ('accepted', 'in_progress')) execute function atelie_content_changed();
create constraint trigger content_removed after delete on commissions deferrable initially deferred for each row
  when (old.stage in ('accepted', 'in_progress')) execute function atelie_content_changed();
create trigger content_emptied after truncate on commissions for each statement execute function atelie_content_changed();
{{else}}
create trigger commissions_content_update after update on commissions
  when (old.stage in ('accepted', 'in_progress')) <> (new.stage in ('accepted', 'in_progress')) begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger commissions_content_insert after insert on commissions when new.stage in ('accepted', 'in_progress') begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
create trigger commissions_content_delete after delete on commissions when old.stage in ('accepted', 'in_progress') begin
  insert into content_version (id, version, edited) values (1, 1, 1) on conflict (id) do update set version = version + 1, edited = version + 1;
end;
{{end}}
