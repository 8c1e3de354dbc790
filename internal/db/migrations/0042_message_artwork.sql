-- The work that a message asks about, which visitors saw when they sent it. It refers to no row, because the message stays when the
-- work is deleted.
alter table contact_submissions add column artwork_id {{.uuid}};
alter table contact_quarantine add column artwork_id {{.uuid}};
