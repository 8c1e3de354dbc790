-- When a row was last written: whoever saves names the time they saw, so that a second owner overwrites nothing unseen.
alter table products add column updated_at {{.timestamp}};
alter table reviews add column updated_at {{.timestamp}};
alter table cover_images add column updated_at {{.timestamp}};
update products set updated_at = created_at;
update reviews set updated_at = created_at;
update cover_images set updated_at = created_at;
