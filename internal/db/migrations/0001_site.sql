-- The five tables of the site, and what belongs to them.
create table products (
  id {{.uuid}} primary key not null,
  title {{.text}} not null check (length(title) between 1 and 300),
  description {{.text}},
  artwork_type {{.text}} check (artwork_type in ('digital', 'watercolour', 'mural', 'oil', 'acrylic')),
  image_url {{.text}},
  image_gallery {{.list}} not null default {{.empty_list}},
  video_gallery {{.list}} not null default {{.empty_list}},
  is_featured {{.bool}} not null default {{.false}},
  in_stock {{.bool}} not null default {{.true}},
  dimensions {{.text}},
  medium {{.text}},
  creation_date {{.date}},
  tags {{.list}} not null default {{.empty_list}},
  is_customizable {{.bool}} not null default {{.false}},
  seo_meta_title {{.text}},
  seo_meta_desc {{.text}},
  price {{.int}} not null default 0 check (price = 0),
  created_at {{.timestamp}} not null
) {{.strict}};
create index products_newest on products (created_at desc, id);
create index products_type_newest on products (artwork_type, created_at desc, id);

create table reviews (
  id {{.uuid}} primary key not null,
  client_name {{.text}} not null check (length(client_name) between 1 and 200),
  location {{.text}},
  message {{.text}} not null check (length(message) between 1 and 5000),
  image_url {{.text}},
  is_active {{.bool}} not null default {{.true}},
  display_order {{.int}},
  created_at {{.timestamp}} not null
) {{.strict}};
create index reviews_order on reviews (display_order, created_at desc, id);

create table cover_images (
  id {{.uuid}} primary key not null,
  image_url {{.text}} not null,
  title {{.text}},
  description {{.text}},
  media_type {{.text}},
  video_thumbnail_url {{.text}},
  is_active {{.bool}} not null default {{.true}},
  display_order {{.int}} check (display_order >= 1),
  created_at {{.timestamp}} not null
) {{.strict}};
create index cover_images_order on cover_images (display_order, created_at desc, id);

create table contact_submissions (
  id {{.uuid}} primary key not null,
  name {{.text}} not null,
  email {{.text}} not null,
  message {{.text}} not null,
  reason {{.text}} not null default 'general' check (reason in ('general', 'commission', 'purchase', 'collaboration')),
  status {{.text}} not null default 'new' check (status in ('new', 'read', 'replied')),
  created_at {{.timestamp}} not null
) {{.strict}};
create index contact_submissions_newest on contact_submissions (created_at desc, id);

-- Messages whose hidden field was filled in: kept for 30 days so that none is lost silently.
create table contact_quarantine (
  id {{.uuid}} primary key not null,
  name {{.text}} not null,
  email {{.text}} not null,
  message {{.text}} not null,
  reason {{.text}} not null,
  created_at {{.timestamp}} not null
) {{.strict}};
create index contact_quarantine_age on contact_quarantine (created_at);

-- Counters for limits that must hold over restarts and over several nodes. bucket_start is the window's first second.
create table rate_limits (
  name {{.text}} not null,
  subject {{.text}} not null,
  bucket_start {{.bigint}} not null,
  hits {{.int}} not null,
  primary key (name, subject, bucket_start)
) {{.strict}};
create index rate_limits_age on rate_limits (bucket_start);
