-- Reviews that clients write about finished commissions at their private links (internal/functions/commission_review.go). State: asked by the
-- owner, waiting for the owner's approval, approved, declined, or withdrawn: the owner has taken the request back. The texts are null until the
-- client has written them, and after the approval: then the row review_id of reviews has them. reply_id is the text in the conversation that says
-- that the review was written; its picture (contact_pictures) is that of the review.
create table commission_reviews (
  message_id {{.uuid}} primary key not null references contact_submissions (id) on delete cascade,
  state {{.text}} not null check (state in ('asked', 'waiting', 'approved', 'declined', 'withdrawn')),
  asked_at {{.timestamp}} not null,
  reply_id {{.uuid}} references contact_replies (id) on delete set null,
  client_name {{.text}},
  location {{.text}},
  message {{.text}},
  written_at {{.timestamp}},
  decided_at {{.timestamp}},
  review_id {{.uuid}}
) {{.strict}};
create index commission_reviews_state on commission_reviews (state, written_at);
create index commission_reviews_reply on commission_reviews (reply_id) where reply_id is not null;

-- Pages mark a review that came from a finished commission.
alter table reviews add column from_commission {{.bool}} not null default {{.false}};

-- What a text in a conversation is: review_request is an owner's request for a review, review says that the client has written one.
{{if .postgres}}
alter table contact_replies drop constraint contact_replies_kind_check;
alter table contact_replies add constraint contact_replies_kind_check check (kind in ('reply', 'progress', 'offer', 'answer', 'review_request', 'review'));
{{else}}
-- SQLite changes no check of a column, so a new column takes the place of the old one. A column that triggers name cannot be dropped.
drop trigger contact_replies_last_inserted;
drop trigger contact_replies_last_deleted;
drop trigger contact_replies_last_changed;
alter table contact_replies rename column kind to kind_before;
alter table contact_replies add column kind {{.text}} not null default 'reply' check (kind in ('reply', 'progress', 'offer', 'answer', 'review_request', 'review'));
update contact_replies set kind = kind_before;
alter table contact_replies drop column kind_before;
create trigger contact_replies_last_inserted after insert on contact_replies begin
  update contact_submissions set (last_author, last_text, last_at) =
    (select author, substr(text, 1, 200), created_at from contact_replies where message_id = new.message_id and kind <> 'progress' order by created_at desc, id desc limit 1)
  where id = new.message_id;
end;
create trigger contact_replies_last_deleted after delete on contact_replies begin
  update contact_submissions set (last_author, last_text, last_at) =
    (select author, substr(text, 1, 200), created_at from contact_replies where message_id = old.message_id and kind <> 'progress' order by created_at desc, id desc limit 1)
  where id = old.message_id;
end;
create trigger contact_replies_last_changed after update of author, text, created_at on contact_replies begin
  update contact_submissions set (last_author, last_text, last_at) =
    (select author, substr(text, 1, 200), created_at from contact_replies where message_id = new.message_id and kind <> 'progress' order by created_at desc, id desc limit 1)
  where id = new.message_id;
end;

drop trigger reviews_history_update;
drop trigger reviews_history_delete;
create trigger reviews_history_update after update on reviews when old.id is not new.id or old.client_name is not new.client_name or old.location is not new.location
    or old.message is not new.message or old.image_url is not new.image_url or old.is_active is not new.is_active
    or old.created_at is not new.created_at or old.message_pt is not new.message_pt or old.from_commission is not new.from_commission
begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('reviews', old.id, 'update', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'client_name', old.client_name, 'location', old.location, 'message', old.message,
    'image_url', old.image_url, 'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order,
    'created_at', old.created_at, 'updated_at', old.updated_at, 'message_pt', old.message_pt,
    'from_commission', json(iif(old.from_commission, 'true', 'false'))));
end;
create trigger reviews_history_delete after delete on reviews begin
  insert into row_history (table_name, row_id, action, actor, changed_at, row_before)
  values ('reviews', old.id, 'delete', (select actor from history_actor), rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || '+00:00', json_object(
    'id', old.id, 'client_name', old.client_name, 'location', old.location, 'message', old.message,
    'image_url', old.image_url, 'is_active', json(iif(old.is_active, 'true', 'false')), 'display_order', old.display_order,
    'created_at', old.created_at, 'updated_at', old.updated_at, 'message_pt', old.message_pt,
    'from_commission', json(iif(old.from_commission, 'true', 'false'))));
end;
{{end}}
