-- Counts of what visitors see come from these indexes alone: since migration 33 they read is_published, for which each row was read.
drop index products_newest;
create index products_newest on products (created_at desc, id, is_published);
drop index products_type_newest;
create index products_type_newest on products (artwork_type, created_at desc, id, is_published);
