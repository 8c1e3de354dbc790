-- The home page counts the featured works. Without is_featured in this index, SQLite read each row for that.
drop index products_newest;
create index products_newest on products (created_at desc, id, is_published, is_featured);
